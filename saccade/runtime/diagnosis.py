"""What this machine offers, and what of it is in use."""

import os
import platform
from typing import Any

import torch

from saccade.runtime.bfloat16 import slow_without_bfloat16
from saccade.runtime.compiler import find_compiler
from saccade.runtime.native import KERNELS, load_library
from saccade.runtime.quantized import quantized_library
from saccade.runtime.threads import environment_without_ours, wait_is_ours

_MATTER = ("amx", "asimd", "avx", "bf16", "fma", "i8mm", "neon", "sve")  # the instructions that products are made of
_CHOICES = ("SACCADE_NATIVE", "SACCADE_CACHE", "CC", "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT")


def examine() -> dict[str, dict[str, Any]]:
    """By subject and name; whatever is off comes with its reason."""
    environment = environment_without_ours(os.environ)
    return {
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "system": platform.platform()},
        "processor": _processor(),
        "threads": {
            "cores": os.cpu_count(),
            "torch uses": torch.get_num_threads(),
            "they wait": "briefly, as saccade has set it" if wait_is_ours() else "as you or OpenMP chose",
        },
        "devices": _devices(),
        "compiler": {"C": " ".join(find_compiler() or []) or "none; install gcc or clang, or set CC"},
        "kernels": {source.stem: load_library(source, "float").reason for source in sorted(KERNELS.glob("*.c"))},
        "precision": {
            "int8": "products of int8 numbers" if quantized_library(torch.empty(1)) else _no_int8(),
            "bfloat16": "slower than float32 here"
            if slow_without_bfloat16()
            else "the processor has it, or cannot say",
        },
        "environment": {name: value for name, value in sorted(environment.items()) if name in _CHOICES},
    }


def _processor() -> dict[str, Any]:
    has: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # older versions of torch cannot say
    words = sorted(name for name, there in has.items() if there is True and name.startswith(_MATTER))
    return {
        "kind": has.get("architecture", platform.machine()),
        "torch's kernels are for": torch.backends.cpu.get_cpu_capability(),
        "has": ", ".join(words) or "nothing that torch could name",
    }


def _devices() -> dict[str, str]:
    found = {"cpu": "in use"}
    if torch.cuda.is_available():
        found |= {f"cuda:{number}": torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())}
    if torch.backends.mps.is_available():
        found["mps"] = "there"
    return found


def _no_int8() -> str:
    return "no faster than float32: it takes AVX-512 VNNI and the kernel `quantized`"
