"""Validation of GPUs: the proof, before something is run on them, that the GPUs of each pool work.

Builds
    Namespace  for pods that may be root, and nothing more
    ConfigMap  the checks: shell and Python, as they stand in the package
    Job        one for each pool: every node of a group, one or two of a Karpenter pool
    Service    only where the nodes of a pool must find each other

Needs
    The GPU software, and the pools. GPUs that are in use are waited for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.facts import ami, labels, namespaces, taints, versions
from eks_gpu.facts.taints import Taint
from eks_gpu.foundation.arguments import Problem, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.namespace import Namespace, NamespaceArgs, PodSecurity
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.gpu.sharing import config_map
from eks_gpu.gpu.validation.checks import script_files
from eks_gpu.gpu.validation.manifest import Place, job_name, job_spec, meeting_service_spec
from eks_gpu.gpu.validation.proof import Proof, prove
from eks_gpu.nodes.node_pool_spec import pool_taints
from eks_gpu.settings import gpu_software as settings
from eks_gpu.settings.gpu_pool import GpuPool
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.validation import Validation

_SLACK_MINUTES = 5
"""How much longer the engine waits than the Job lives, so that it is the Job that says what was wrong."""


@dataclass(frozen=True, kw_only=True)
class PoolToProve:
    """One pool whose GPUs are to be proven."""

    settings: GpuPool
    """What the pool is made of."""

    selector: Mapping[str, pulumi.Input[str]]
    """Labels that its nodes have, and no others."""

    resource: pulumi.Resource
    """The pool itself, which comes first."""


@dataclass(frozen=True, kw_only=True)
class GpuValidationArgs:
    """What the validation is built from."""

    settings: settings.GpuSoftware
    """The ``gpu_software`` block, whose ``validation`` says how."""

    cluster: ClusterConnection
    """Where it runs."""

    gpu_software: GpuSoftware
    """What was installed to make the GPUs visible."""

    pools: Mapping[str, PoolToProve]
    """The pools by their name. Karpenter's are proven only if the settings say so."""


class GpuValidation(Component):
    """The proof that the GPUs of each pool work.

    A Job is made again when there is something new to prove, and after it has failed; otherwise it stays, finished, as
    the record. It is never cleaned up by time: the engine would miss it, and prove everything again.
    """

    passed: Mapping[str, pulumi.Output[str]]
    """By pool, when its GPUs were proven."""

    ready: tuple[pulumi.Resource, ...]
    """What must come after the proof depends on these."""

    def __init__(self, name: str, args: GpuValidationArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the checks, then one Job for each pool."""
        refuse(_problems(args), component=name)
        super().__init__(name, opts)
        self._cluster = args.cluster
        validation = _validation(args)
        namespace = self._namespace()
        scripts = script_files()
        config = config_map(self.child_name("checks"), scripts, namespace.namespace, self._options(namespace))
        jobs: dict[str, k8s.batch.v1.Job] = {}
        for key, pool in pools_to_prove(args.pools, validation).items():
            place = Place(
                namespace=namespace.namespace,
                selector=pool.selector,
                taints=taints_of(pool.settings),
                runtime_class_name=args.gpu_software.runtime_class_name,
                scripts=scripts.name,
            )
            proof = prove(pool.settings, validation, args.settings.sharing)
            jobs[key] = self._job(key, proof, place, args, after=(config, pool.resource))
        self.passed = {key: job.status.apply(_when) for key, job in jobs.items()}
        self.ready = tuple(jobs.values())
        self.register_outputs({"passed": self.passed})

    def _options(self, *depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        return self.child_opts(provider=self._cluster.provider, depends_on=depends_on)

    def _namespace(self) -> Namespace:
        wanted = NamespaceArgs(namespace=namespaces.GPU_VALIDATION, pod_security=PodSecurity.BASELINE)
        return Namespace(self.child_name("namespace"), wanted, self._options(*self._cluster.ready))

    def _job(
        self, key: str, proof: Proof, place: Place, args: GpuValidationArgs, after: Sequence[pulumi.Resource]
    ) -> k8s.batch.v1.Job:
        proves = proven_with(args.settings, args.pools[key].settings)
        minutes = _validation(args).timeout_minutes
        name = job_name(key, proof, (*proves, f"{minutes} minutes"), place.scripts)
        before = [*after, *args.gpu_software.ready]
        if proof.meets:
            before.append(self._meeting_service(name, place, after))
        patience = f"{minutes + _SLACK_MINUTES}m"
        return k8s.batch.v1.Job(
            # The name is part of it: new proof is a new resource, and a group that grew leaves the old proof alone.
            self.child_name(name),
            metadata={
                "name": name,
                "namespace": place.namespace,
                "annotations": {
                    labels.PROVES: ", ".join(proves),
                    labels.REPLACE_UNREADY: "true",
                },
            },
            spec=job_spec(name, proof, place, minutes),
            opts=self.child_opts(
                provider=self._cluster.provider,
                depends_on=before,
                ignore_changes=["spec.completions", "spec.parallelism"],
                custom_timeouts=pulumi.CustomTimeouts(create=patience, update=patience),
            ),
        )

    def _meeting_service(self, name: str, place: Place, after: Sequence[pulumi.Resource]) -> k8s.core.v1.Service:
        return k8s.core.v1.Service(
            self.child_name(f"{name}-meeting"),
            metadata={
                "name": name,
                "namespace": place.namespace,
                # It has no address before its Job has pods, and the Job comes after it.
                "annotations": {labels.SKIP_AWAIT: "true"},
            },
            spec=meeting_service_spec(name),
            opts=self._options(*after),
        )


def pools_to_prove(pools: Mapping[str, PoolToProve], validation: Validation) -> dict[str, PoolToProve]:
    """Return the pools that are proven: all groups, and Karpenter's pools if the settings say so."""
    return {key: pool for key, pool in pools.items() if validation.node_pools or isinstance(pool.settings, NodeGroup)}


def taints_of(pool: GpuPool) -> tuple[Taint, ...]:
    """Return what keeps other pods off the nodes of a pool."""
    return pool_taints(pool) if isinstance(pool, NodePool) else (taints.GPU,)


def proven_with(software: settings.GpuSoftware, pool: GpuPool) -> tuple[str, ...]:
    """Return what the GPUs of a pool are proven with: hardware, chart and image.

    Without the image, if each new node of the pool is proven anyway.
    """
    chart = versions.GPU_OPERATOR if isinstance(software, settings.Operator) else versions.NVIDIA_DEVICE_PLUGIN
    found = (*pool.instance_types, *(pool.zones or ()), f"{chart.name} {chart.version}")
    if isinstance(pool, NodePool) and pool.validate_new_nodes:
        return found
    family = pool.image.ami_family
    return (*found, f"{family.value} {ami.release(family)}")


def _validation(args: GpuValidationArgs) -> Validation:
    return args.settings.validation or Validation()


def _when(status: k8s.batch.v1.outputs.JobStatus | None) -> str:
    """Return what the stack says of a finished Job: nothing of its nodes."""
    finished = status.completion_time if status is not None else None
    return f"passed at {finished}" if finished else "not finished"


def _problems(args: GpuValidationArgs) -> list[Problem]:
    return [
        Problem(f"pools.{key}.selector", "is empty, so that any node would do; give the labels of the pool's nodes")
        for key, pool in args.pools.items()
        if not pool.selector
    ]
