"""An engine that publishes given documents over real sockets."""

import threading

import msgspec
import zmq

from gazelive.gaze.documents import encode


class Engine:
    """Publishes documents and answers requests, as the real one does.

    Its publisher is an XPUB, which hears of subscriptions: what is sent before one is lost, and
    sending until something arrives would fill the queue, which drops what comes next.
    """

    def __init__(self, documents="tcp://127.0.0.1:*", control="tcp://127.0.0.1:*"):
        self._context = zmq.Context()
        self._publisher = self._context.socket(zmq.XPUB)
        self._publisher.bind(documents)
        self._control = self._context.socket(zmq.REP)
        self._control.bind(control)
        self.documents_address = self._publisher.getsockopt_string(zmq.LAST_ENDPOINT)
        self.control_address = self._control.getsockopt_string(zmq.LAST_ENDPOINT)
        self.heard = []
        self.asked = threading.Event()
        """Set after the first request."""
        self.replies = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._answer)
        self._thread.start()

    def wait_for_subscriber(self, patience_s=60.0):
        assert self._publisher.poll(1000 * patience_s), "nobody subscribed"
        assert self._publisher.recv() == b"\x01"

    def send(self, *messages):
        for message in messages:
            self._publisher.send(message if isinstance(message, bytes) else encode(message))

    def _answer(self):
        while not self._stopping.is_set():
            if self._control.poll(20):
                request = msgspec.msgpack.decode(self._control.recv())
                self.heard.append(request)
                self.asked.set()
                reply = self.replies.get(request["command"], {"ok": True})
                self._control.send(
                    reply if isinstance(reply, bytes) else msgspec.msgpack.encode(reply)
                )

    def die(self):
        if not self._stopping.is_set():
            self._stopping.set()
            self._thread.join()
            self._publisher.close(0)
            self._control.close(0)
            self._context.term()
