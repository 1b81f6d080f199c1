"""A server of Python: threads (http.server) or one event loop (asyncio).

server SERVICE NS KEEP_ALIVE MODEL, with the listening socket as standard input. SERVICE is nothing, wait,
compute or mixed; MODEL is threads or asyncio. SIGTERM ends it.
"""

import asyncio
import itertools
import os
import signal
import socket
import sys
import time

SERVICE, NS, KEEP_ALIVE, MODEL = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "yes", sys.argv[4]
BODY = b"weighed and not wanting"
ASKED = itertools.count(1)


def computes() -> bool:
    return SERVICE == "compute" or SERVICE == "mixed" and next(ASKED) % 10 == 0


def compute() -> None:
    begun, state = time.thread_time_ns(), 1
    while time.thread_time_ns() - begun < NS:
        for _ in range(100):
            state = (state * 1103515245 + 12345) & 0xFFFFFFFF


def threads(listener: socket.socket) -> None:
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if KEEP_ALIVE else "HTTP/1.0"
        # One packet for the whole answer.
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            if computes():
                compute()
            elif SERVICE != "nothing":
                time.sleep(NS / 1e9)
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(BODY)))
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
            if computes():
                compute()
            elif SERVICE != "nothing":
                await asyncio.sleep(NS / 1e9)
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
