"""Brings parts up in parallel, as far as one does not need another, and watches them until all are ready."""

from __future__ import annotations

import http.client
import ssl
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TextIO
from urllib.parse import urlsplit

from sandbox.checkout import Checkout
from sandbox.kubernetes import credentials, failures, layout, records
from sandbox.kubernetes.parts import Part
from sandbox.kubernetes.records import Record
from sandbox.ports import holder

DEADLINE_SECONDS = 120.0
"""How long one part may take; the slowest needs four seconds on an idle machine with two cores."""
QUIET_SECONDS = 2.0
"""After which a start is announced."""
REPEAT_SECONDS = 15.0
"""After which it says again what it waits for."""
_POLL_SECONDS = 0.05
_REQUEST_SECONDS = 5.0


def bring_up(checkout: Checkout, wanted: Sequence[Part]) -> Mapping[str, float]:
    """Start what does not run as it should; return after how many seconds each part was ready.

    Raises:
        SandboxError: a part ended, or is not ready in time. What was started stays: the next start goes on with it.

    """
    return _Start(checkout, wanted).run()


@dataclass
class _Start:
    checkout: Checkout
    wanted: Sequence[Part]
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    running: dict[str, Record] = field(default_factory=dict)
    spawned: set[str] = field(default_factory=set)
    since: dict[str, float] = field(default_factory=dict)
    ready: dict[str, float] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    announced: float = 0.0
    others_ran: bool = False
    """Whether anything ran at the beginning; nothing does after the machine was started anew, and that is no news."""

    def run(self) -> Mapping[str, float]:
        self.others_ran = any(record.alive for record in records.read_all(self.checkout))
        while len(self.ready) < len(self.wanted):
            progress = [self._advance(part) for part in self.wanted if part.name not in self.ready]
            if not any(progress):
                time.sleep(_POLL_SECONDS)
            self._tell()
        if self.announced:
            self._say(f"Kubernetes is ready after {self._elapsed:.1f} s")
        return self.ready

    def _advance(self, part: Part) -> bool:
        """Do what can be done for a part now; tell whether it went a step on."""
        if any(name not in self.ready for name in part.after):
            return False
        if part.name not in self.running:
            self.running[part.name] = self._running(part)
            self.since[part.name] = time.monotonic()
        if self._healthy(part):
            self.ready[part.name] = self._elapsed
            return True
        self._check(part)
        return False

    def _running(self, part: Part) -> Record:
        known = records.read(self.checkout, part.name)
        if known is not None and known.alive and known.digest == records.digest(part):
            return known
        if known is not None:
            if not known.alive and self.others_ran:
                log = layout.log(self.checkout, part.name)
                self._say(f"{part.name} had ended by itself, and is started again; its log is {log}")
            records.finish(self.checkout, known)
        self.spawned.add(part.name)
        return records.spawn(self.checkout, part)

    def _check(self, part: Part) -> None:
        record = self.running[part.name]
        if not record.alive:
            raise failures.ended(self.checkout, record, failures.exit_status(record.pid))
        waited = time.monotonic() - self.since[part.name]
        if waited > DEADLINE_SECONDS:
            raise failures.never_ready(self.checkout, record, waited, self.answers.get(part.name, ""))

    def _healthy(self, part: Part) -> bool:
        answering = all(self._answers(part, url) for url in part.health)
        return answering and self.running[part.name].alive and self._is_its_own(part)

    def _is_its_own(self, part: Part) -> bool:
        """Tell whether it is the part that answers: a stranger may have a port that was free a moment ago."""
        if part.name not in self.spawned:
            return True
        pid = holder(urlsplit(part.health[0]).port or 0)
        if pid in {None, self.running[part.name].pid}:
            return True
        self.answers[part.name] = f"process {pid} answers at its port"
        return False

    def _answers(self, part: Part, address: str) -> bool:
        url = urlsplit(address)
        host, port = url.hostname or "", url.port or 0
        connection, headers = http.client.HTTPConnection(host, port, timeout=_REQUEST_SECONDS), {}
        if url.scheme == "https":
            connection = http.client.HTTPSConnection(host, port, timeout=_REQUEST_SECONDS, context=self._trust)
            headers = {"Authorization": f"Bearer {self._token}"}
        try:
            connection.request("GET", url.path, headers=headers)
            answer = connection.getresponse()
            failing = [line for line in answer.read().decode(errors="replace").splitlines() if line.startswith("[-]")]
        except (OSError, http.client.HTTPException):
            self.answers[part.name] = "it does not answer"
            return False
        finally:
            connection.close()
        self.answers[part.name] = "; ".join(failing) or f"{url.path} answers {answer.status}"
        return answer.status == http.client.OK

    @cached_property
    def _token(self) -> str:
        return credentials.token(self.checkout)

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(credentials.authority(self.checkout)))
        certificate, key = (credentials.file(self.checkout, f"etcd-client.{end}") for end in ("crt", "key"))
        # etcd talks to nobody else.
        context.load_cert_chain(certificate, key)
        return context

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self.began

    def _tell(self) -> None:
        if self._elapsed - self.announced < (REPEAT_SECONDS if self.announced else QUIET_SECONDS):
            return
        waiting = ", ".join(part.name for part in self.wanted if part.name not in self.ready)
        if waiting:
            self.announced = self._elapsed
            self._say(f"starting Kubernetes, which takes about ten seconds; not ready yet: {waiting}")

    def _say(self, text: str) -> None:
        self.stream.write(f"{text}\n")
        self.stream.flush()
