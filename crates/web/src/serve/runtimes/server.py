"""A server of Python: threads (http.server) or one event loop (asyncio).

server WAIT_NS COMPUTE_NS EVERY KEEP_ALIVE MODEL, with the listening socket as standard input: each request
waits, and one of EVERY computes before. MODEL is threads or asyncio. SIGTERM ends it.
"""

import asyncio
import itertools
import os
import signal
import socket
import sys
import time

WAIT_S, COMPUTE_NS, EVERY = int(sys.argv[1]) / 1e9, int(sys.argv[2]), int(sys.argv[3])
KEEP_ALIVE, MODEL = sys.argv[4] == "yes", sys.argv[5]
BODY = b"weighed and not wanting"
ASKED = itertools.count(1)


def compute() -> None:
    if COMPUTE_NS == 0 or next(ASKED) % EVERY != 0:
        return
    begun, state = time.thread_time_ns(), 1
    while time.thread_time_ns() - begun < COMPUTE_NS:
        for _ in range(100):
            state = (state * 1103515245 + 12345) & 0xFFFFFFFF


def threads(listener: socket.socket) -> None:
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # One packet for the whole answer.
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            compute()
            if WAIT_S > 0:
                time.sleep(WAIT_S)
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(BODY)))
            if not KEEP_ALIVE:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(BODY)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
    server.socket = listener
    server.server_address = listener.getsockname()
    server.serve_forever()


async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n" % len(BODY)
    answer = head + (b"\r\n" if KEEP_ALIVE else b"Connection: close\r\n\r\n") + BODY
    try:
        while True:
            asked = await reader.readuntil(b"\r\n\r\n")
            compute()
            if WAIT_S > 0:
                await asyncio.sleep(WAIT_S)
            writer.write(answer)
            await writer.drain()
            if not KEEP_ALIVE or b"connection: close" in asked.lower():
                break
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def event_loop(listener: socket.socket) -> None:
    server = await asyncio.start_server(converse, sock=listener)
    await server.serve_forever()


signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
LISTENER = socket.socket(fileno=0)
if MODEL == "threads":
    threads(LISTENER)
else:
    asyncio.run(event_loop(LISTENER))
