"""A web server on 127.0.0.1 that drops connections."""

import contextlib
import http.server
import re
import threading


class Loopback:
    """Serves one file.

    Attributes:
        content: of the file.
        tag: its ETag.
        drops: after how many bytes the next connections are closed.
        ranges: whether it can serve parts.
        requests: the `Range` headers it got.
        url: of the file.
    """

    def __init__(self, content, drops=(), ranges=True):
        self.content, self.drops, self.ranges = content, list(drops), ranges
        self.tag, self.requests = '"1"', []

    def answer(self, handler):
        wanted = handler.headers.get("Range")
        self.requests.append(wanted)
        body, size = self.content, len(self.content)
        if wanted and self.ranges:
            start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
            if start >= size:
                handler.send_error(416)
                return
            handler.send_response(206)
            handler.send_header(
                "Content-Range", f"bytes {start}-{size - 1}/{size}"
            )
            body = body[start:]
        else:
            handler.send_response(200)
        handler.send_header("ETag", self.tag)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if self.drops:
            body = body[: self.drops.pop(0)]
        handler.wfile.write(body)

    @contextlib.contextmanager
    def running(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            def log_message(self, *args):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_port}/file.zip"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
