"""The rules as a Pulumi policy pack.

The pack answers the engine's requests itself instead of handing one callback per rule to the SDK, for four reasons:
the stack's configuration is in ``ConfigureStack``, which the SDK drops; a request is made plain once and not once for
each rule; a finding's level depends on the environment; and the SDK answers an unknown value, or an error, in one rule
by giving up on more than that rule. What the SDK's servicer says about the pack is kept: it is the one private name
that the pack leans on, and a test holds its shape.

Rules on one resource report when the engine is about to create it. Rules on several report at the end, when the engine
hands over the whole stack; the inputs that ``Analyze`` saw are kept for them.
"""

from __future__ import annotations

import datetime as dt
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent import futures
from typing import Any, Final

import grpc
from google.protobuf import empty_pb2, json_format
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc
from pulumi_policy import EnforcementLevel
from pulumi_policy.policy import _PolicyAnalyzerServicer

from eks_gpu_policies.configuration import (
    ALL,
    Configuration,
    ConfigurationError,
    Unanswered,
    configure,
    refuse_options,
)
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.protocol import LEVELS, VERSION, AnyRule, about_run, diagnostic, pack_policy, policy
from eks_gpu_policies.report import PACK, Finding, Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Level, Scope
from eks_gpu_policies.wire import program_resource, stack_resource

_UNLIMITED: Final = -1
_WORKERS: Final = 4


class Servicer(_PolicyAnalyzerServicer):
    """Answers the engine's analyzer requests with the verdicts of ``rules``."""

    def __init__(self, rules: Sequence[AnyRule]) -> None:
        """Declare one policy for each rule, and one for the pack itself, which carries its options."""
        super().__init__(
            PACK,
            VERSION,
            [pack_policy(), *(policy(rule) for rule in rules)],
            EnforcementLevel.ADVISORY,
            description="What must be true of any GPU deployment on Amazon EKS.",
            display_name="EKS GPU",
        )
        self._rules = tuple(rules)
        self._alone = tuple(rule for rule in rules if rule.scope is Scope.RESOURCE)
        self._lock = threading.Lock()
        self._configuration: Configuration | None = None
        self._stack_config: dict[str, str] = {}
        self._pack_config: dict[str, Any] = {}
        self._rule_config: dict[str, dict[str, Any]] = {}
        self._levels: dict[str, Level] = {}
        self._seen: dict[str, Resource] = {}
        self._told: set[Finding] = set()
        self._complained = False

    # --- how the run is configured ---

    def ConfigureStack(  # noqa: N802 - the protocol's name
        self, request: analyzer_pb2.AnalyzerStackConfigureRequest, context: grpc.ServicerContext
    ) -> analyzer_pb2.AnalyzerStackConfigureResponse:
        """Take the stack's configuration; a new run begins."""
        with self._lock:
            self._stack_config = dict(request.config)
            self._configuration = None
            self._seen.clear()
            self._told.clear()
            self._complained = False
        super().ConfigureStack(request, context)
        return analyzer_pb2.AnalyzerStackConfigureResponse()

    def Configure(  # noqa: N802 - the protocol's name
        self, request: analyzer_pb2.ConfigureAnalyzerRequest, _context: grpc.ServicerContext
    ) -> empty_pb2.Empty:
        """Take the pack's options and the levels that somebody has set."""
        configured = request.policyConfig
        with self._lock:
            self._levels = {
                name: LEVELS[policy.enforcementLevel]
                for name, policy in configured.items()
                if policy.enforcementLevel in LEVELS and name != ALL
            }
            given = {name: json_format.MessageToDict(policy.properties) for name, policy in configured.items()}
            self._pack_config = given.pop(PACK, {})
            self._rule_config = given
            self._configuration = None
        return empty_pb2.Empty()

    def _configured(self) -> Configuration:
        with self._lock:
            if self._configuration is None:
                levels = {name: level for name, level in self._levels.items() if name != PACK}
                refuse_options(self._rule_config)
                self._configuration = configure(
                    self._pack_config, os.environ, self._stack_config, levels, [rule.id for rule in self._rules]
                )
            return self._configuration

    # --- verdicts ---

    def Remediate(  # noqa: N802 - the protocol's name
        self, _request: analyzer_pb2.AnalyzeRequest, _context: grpc.ServicerContext
    ) -> analyzer_pb2.RemediateResponse:
        """Change nothing: a rule tells people what to do and leaves it to them."""
        return analyzer_pb2.RemediateResponse()

    def Analyze(  # noqa: N802 - the protocol's name
        self, request: analyzer_pb2.AnalyzeRequest, _context: grpc.ServicerContext
    ) -> analyzer_pb2.AnalyzeResponse:
        """Judge one resource by the rules that need no other."""
        resource = program_resource(request)
        with self._lock:
            self._seen[resource.urn] = resource
        try:
            configuration = self._configured()
        except ConfigurationError as error:
            return self._cannot_run(error)
        report = self._judge((resource,), self._alone, configuration, partial=True)
        with self._lock:
            self._told.update(report.findings)
        return analyzer_pb2.AnalyzeResponse(diagnostics=[diagnostic(finding) for finding in report.findings])

    def AnalyzeStack(  # noqa: N802 - the protocol's name
        self, request: analyzer_pb2.AnalyzeStackRequest, _context: grpc.ServicerContext
    ) -> analyzer_pb2.AnalyzeResponse:
        """Judge the whole stack, say what ``Analyze`` has not said yet, and sum up."""
        try:
            configuration = self._configured()
        except ConfigurationError as error:
            return self._cannot_run(error)
        with self._lock:
            seen, told = dict(self._seen), set(self._told)
        resources = [stack_resource(item, seen.get(item.urn)) for item in request.resources]
        report = self._judge(resources, self._rules, configuration, partial=False)
        news = [finding for finding in report.findings if finding not in told]
        self._sum_up(report)
        return analyzer_pb2.AnalyzeResponse(
            diagnostics=[*(diagnostic(finding) for finding in news), *self._unanswered(report, configuration)]
        )

    @staticmethod
    def _judge(
        resources: Iterable[Resource], rules: Sequence[AnyRule], configuration: Configuration, *, partial: bool
    ) -> Report:
        return evaluate(
            resources,
            environment=configuration.environment,
            rules=rules,
            today=dt.datetime.now(tz=dt.UTC).date(),
            options=configuration.options,
            waivers=configuration.waivers,
            levels=configuration.levels,
            partial=partial,
        )

    def _unanswered(self, report: Report, configuration: Configuration) -> Iterator[analyzer_pb2.AnalyzeDiagnostic]:
        """Yield what was not evaluated, as far as that was asked for."""
        missed = report.not_evaluated
        if missed and configuration.fail_on_not_evaluated:
            questions = "1 check" if len(missed) == 1 else f"{len(missed):,} checks"
            yield about_run(Level.MANDATORY, f"{questions} could not be evaluated, and none may be left open")
        if configuration.not_evaluated is Unanswered.LIST or configuration.fail_on_not_evaluated:
            for item in missed:
                yield about_run(Level.ADVISORY, f"not evaluated: {item.text}", item.urn)

    def _sum_up(self, report: Report) -> None:
        """Write one line on the run to standard error.

        The engine shows it below the stack, so that a sound run has its summary and stays free of warnings.
        """
        if self._levels.get(PACK) is not Level.DISABLED:
            sys.stderr.write(f"{PACK}: {report.summary}\n")
            sys.stderr.flush()

    def _cannot_run(self, error: ConfigurationError) -> analyzer_pb2.AnalyzeResponse:
        """Refuse the deployment with the reasons why nothing is judged: once, not for every resource."""
        with self._lock:
            silent, self._complained = self._complained, True
        reasons = () if silent else error.problems
        return analyzer_pb2.AnalyzeResponse(
            diagnostics=[about_run(Level.MANDATORY, f"the policies could not run: {reason}") for reason in reasons]
        )


def serve(rules: Sequence[AnyRule]) -> None:
    """Answer the engine on a free port of this machine until it ends the process.

    The port on standard output is the whole conversation there; anything else on it would break the start, so that
    whatever prints later prints to standard error.
    """
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=_WORKERS),
        options=[("grpc.max_receive_message_length", _UNLIMITED), ("grpc.max_send_message_length", _UNLIMITED)],
    )
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(Servicer(rules), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    sys.stdout = sys.stderr
    try:
        server.wait_for_termination()
    except KeyboardInterrupt:
        server.stop(0)
