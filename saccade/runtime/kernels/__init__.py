"""The C kernels, each an operator with its checks and, where they are short, the same loops in torch's operations."""
