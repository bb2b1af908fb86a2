"""A short text that other data does not have."""

import hashlib
from collections.abc import Iterable


def fingerprint(parts: Iterable[str | bytes]) -> str:
    """Of texts and bytes in their order, whatever they are cut into: each goes in with its length."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass") if isinstance(part, str) else part
        digest.update(f"{len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()[:16]
