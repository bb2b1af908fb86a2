"""Public data sets: fetched from where their authors put them, or taken from a folder, and checked either way."""

import gzip
import hashlib
import http.client
import io
import urllib.request
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from saccade.base.errors import InputError
from saccade.base.files import make_folder, read_file, write_file

# No file of a known set is larger than this, packed or unpacked.
_MOST_BYTES = 64 << 20
_PATIENCE = 30  # seconds without an answer


class PublicSet(NamedTuple):
    """A data set that lies somewhere as one gzip file for each of its files."""

    address: str  # of the folder
    files: dict[str, str]  # SHA-256 of each file, unpacked


SETS = {
    # Elliott 2016: captions of Flickr30k, for research and education
    "multi30k": PublicSet(
        "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/",
        {
            "train.en": "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
            "train.de": "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
            "train.fr": "5925a3c18f1587b6b54b87743106e6e8ab93618edb6f65d19eac0621f853a10d",
            "val.en": "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
            "val.de": "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
            "val.fr": "5304e444d842e962b2dda4d816b70b22a1765b15401642b7ca37a67477e708dc",
            "test_2016_flickr.en": "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
            "test_2016_flickr.de": "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
            "test_2016_flickr.fr": "cb3160d69b002bb638e66cc7612fcd56cb0af82eadc9c142dedc438afb885ef6",
        },
    ),
}


def get_public_set(
    name: str, out: Path, *, source: Path | None = None, progress: Callable[[str], None] | None = None
) -> list[Path]:
    """Put the files of a set into the folder `out`, from the network or from the folder `source`.

    What is there already and whole is left alone, so a download that was broken off goes on. `progress` is called with
    the path of each file before the work on it.
    """
    chosen = SETS[name]
    paths: list[Path] = []
    for file, digest in chosen.files.items():
        path = out / file
        paths.append(path)
        if path.is_file() and _digest(read_file(path)) == digest:
            continue
        if progress is not None:
            progress(str(path))
        where, content = _fetch(chosen.address + file + ".gz") if source is None else _take(source / file)
        if _digest(content) != digest:
            raise InputError(f"{where}: not the file of {name} that is meant; get it anew, or from elsewhere")
        make_folder(out)
        write_file(path, content)
    return paths


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _take(path: Path) -> tuple[str, bytes]:
    """A file as it lies there, or packed."""
    packed = path.with_name(path.name + ".gz")
    if not path.is_file() and packed.is_file():
        return str(packed), _unpack(read_file(packed), str(packed))
    if not path.exists():
        raise InputError(f"{path}: no such file, nor {packed.name}; name the folder that has the set with --from DIR")
    return str(path), read_file(path)


def _fetch(address: str) -> tuple[str, bytes]:
    try:
        with urllib.request.urlopen(address, timeout=_PATIENCE) as answer:  # noqa: S310 - an address of ours
            packed = answer.read(_MOST_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        raise InputError(
            f"{address}: cannot be fetched ({error}); without a network, bring the files, and name their folder with"
            " --from DIR"
        ) from None
    return address, _unpack(packed, address)


def _unpack(packed: bytes, where: str) -> bytes:
    """At most so many bytes of it, whatever the file says."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            content = file.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{where}: not a whole gzip file ({error}); get it anew") from None
    if len(content) > _MOST_BYTES or len(packed) > _MOST_BYTES:
        raise InputError(f"{where}: more than {_MOST_BYTES >> 20} MB, which no file of a known set has")
    return content
