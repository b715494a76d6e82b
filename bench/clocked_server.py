"""A model server that only notes when a request arrives, and answers one word: bodies may be tens of megabytes."""

import contextlib
import threading
import time
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_EVENTS = (
    '{"type":"message_start","message":{"id":"msg_x","type":"message","role":"assistant","model":"m","content":[],'
    '"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}',
    '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}}',
    '{"type":"content_block_stop","index":0}',
    '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}',
    '{"type":"message_stop"}',
)
_BODY = "".join(f"event: {event[9 : event.index(chr(34), 9)]}\ndata: {event}\n\n" for event in _EVENTS).encode()


class Arrivals:
    """When each request began to arrive, on the monotonic clock, and how long its body was."""

    def __init__(self) -> None:
        self.at: list[float] = []
        self.sizes: list[int] = []
        self.url = ""


@contextlib.contextmanager
def clocked_server() -> Generator[Arrivals]:
    """Started and stopped."""
    arrivals = Arrivals()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            arrivals.at.append(time.monotonic())
            left = int(self.headers["content-length"])
            arrivals.sizes.append(left)
            while left > 0:
                left -= len(self.rfile.read(min(left, 1 << 20)))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(_BODY)))
            self.end_headers()
            self.wfile.write(_BODY)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    arrivals.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield arrivals
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
