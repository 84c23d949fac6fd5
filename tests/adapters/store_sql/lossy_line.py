"""A line to a server that can lose the answer to one COMMIT: the server has done it, the client never hears."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class LossyLine:
    """Passes bytes between clients and a server on loopback."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.lose_next_write = False
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more clients."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._target))
            cut = threading.Event()
            threading.Thread(target=self._forward, args=(client, server, cut), daemon=True).start()
            threading.Thread(target=self._answer, args=(server, client, cut), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        writes = False
        while data := _receive(client):
            writes = b"UPDATE paika_meta" in data or (writes and b"BEGIN" not in data)
            if writes and self.lose_next_write and b"COMMIT" in data:
                self.lose_next_write = False
                cut.set()
            _send(server, data)
        _close(server)

    def _answer(self, server: socket.socket, client: socket.socket, cut: threading.Event) -> None:
        while data := _receive(server):
            if cut.is_set():
                break  # the answer to COMMIT came, so it is done
            _send(client, data)
        _close(client)
        _close(server)


def _receive(end: socket.socket) -> bytes:
    try:
        return end.recv(65_536)
    except OSError:
        return b""


def _send(end: socket.socket, data: bytes) -> None:
    try:
        end.sendall(data)
    except OSError:
        _close(end)


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
