"""JSON of a user's files, refused with its place where it is broken."""

import json
import re
from typing import Any

from saccade.base.errors import InputError

_MAY_BE_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str, where: str, *, wanted: str) -> Any:
    r"""What a JSON text says.

    Half of a character, a surrogate by itself such as `\ud800`, can be written in JSON and nowhere else: it is refused
    here, before it meets the first file or terminal.
    """
    try:
        found = json.loads(text)
        if _MAY_BE_HALF.search(text):
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise InputError(f"{where}: found {half}, half of a character; write the whole of it, or take it out") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error}); wanted {wanted}") from None
    return found
