"""A small server of files, as those of the network are: it goes on in the midst of a file, and can break off."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FilesServer:
    """Files by their names, and what was asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.breaks_after: int | None = None  # so many bytes of an answer are sent, and no more
        self.tells_length = True
        self.asked: list[tuple[str, str | None]] = []  # the name of a file, and the piece of it
        self.address = ""


@contextmanager
def files_server() -> Iterator[FilesServer]:
    state = FilesServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            state.asked.append((name, self.headers.get("Range")))
            content = state.files.get(name)
            if content is None:
                self.send_error(404)
                return
            version = f'"{sha256(content).hexdigest()[:8]}"'
            start = self._start(version)
            if start is not None and start >= len(content):
                self.send_error(416)
                return
            self.send_response(200 if start is None else 206)
            self.send_header("ETag", version)
            if start is not None:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
                content = content[start:]
            if state.tells_length:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: state.breaks_after])

        def _start(self, version: str) -> int | None:
            piece = self.headers.get("Range")
            if piece is None or self.headers.get("If-Range") != version:
                return None
            return int(piece.removeprefix("bytes=").removesuffix("-"))

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{server.server_port}/"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
