"""GPU platforms on Amazon EKS that cannot be built wrong.

The names below are the library. They are imported when first used: ``import eks_gpu`` costs neither Pulumi nor
pydantic, so that ``eks_gpu.facts`` stays cheap for those who only want to know what is true.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from eks_gpu.cluster.add_ons import AddOns as AddOns
    from eks_gpu.cluster.add_ons import AddOnsArgs as AddOnsArgs
    from eks_gpu.cluster.add_ons import NodeAddOns as NodeAddOns
    from eks_gpu.cluster.admission_policies import AdmissionPolicies as AdmissionPolicies
    from eks_gpu.cluster.admission_policies import AdmissionPoliciesArgs as AdmissionPoliciesArgs
    from eks_gpu.cluster.control_plane import Cluster as Cluster
    from eks_gpu.cluster.control_plane import ClusterArgs as ClusterArgs
    from eks_gpu.cluster.network import Network as Network
    from eks_gpu.cluster.network import NetworkArgs as NetworkArgs
    from eks_gpu.cluster.network_connection import NetworkConnection as NetworkConnection
    from eks_gpu.cluster.system_nodes import SystemNodes as SystemNodes
    from eks_gpu.cluster.system_nodes import SystemNodesArgs as SystemNodesArgs
    from eks_gpu.foundation.cluster_connection import ClusterConnection as ClusterConnection
    from eks_gpu.foundation.namespace import Namespace as Namespace
    from eks_gpu.foundation.namespace import NamespaceArgs as NamespaceArgs
    from eks_gpu.foundation.namespace import PodSecurity as PodSecurity
    from eks_gpu.gpu.device_plugin import DevicePlugin as DevicePlugin
    from eks_gpu.gpu.device_plugin import DevicePluginArgs as DevicePluginArgs
    from eks_gpu.gpu.efa_device_plugin import EfaDevicePlugin as EfaDevicePlugin
    from eks_gpu.gpu.efa_device_plugin import EfaDevicePluginArgs as EfaDevicePluginArgs
    from eks_gpu.gpu.gpu_operator import GpuOperator as GpuOperator
    from eks_gpu.gpu.gpu_operator import GpuOperatorArgs as GpuOperatorArgs
    from eks_gpu.gpu.gpu_software import GpuSoftware as GpuSoftware
    from eks_gpu.gpu.validation.gpu_validation import GpuValidation as GpuValidation
    from eks_gpu.gpu.validation.gpu_validation import GpuValidationArgs as GpuValidationArgs
    from eks_gpu.gpu.validation.gpu_validation import PoolToProve as PoolToProve
    from eks_gpu.gpu.validation.node_gate import NodeGate as NodeGate
    from eks_gpu.gpu.validation.node_gate import NodeGateArgs as NodeGateArgs
    from eks_gpu.nodes.gpu_node_group import GpuNodeGroup as GpuNodeGroup
    from eks_gpu.nodes.gpu_node_group import GpuNodeGroupArgs as GpuNodeGroupArgs
    from eks_gpu.nodes.gpu_node_pool import GpuNodePool as GpuNodePool
    from eks_gpu.nodes.gpu_node_pool import GpuNodePoolArgs as GpuNodePoolArgs
    from eks_gpu.nodes.karpenter import Karpenter as Karpenter
    from eks_gpu.nodes.karpenter import KarpenterArgs as KarpenterArgs
    from eks_gpu.nodes.karpenter_connection import KarpenterConnection as KarpenterConnection
    from eks_gpu.observability.gpu_monitoring import GpuMonitoring as GpuMonitoring
    from eks_gpu.observability.gpu_monitoring import GpuMonitoringArgs as GpuMonitoringArgs
    from eks_gpu.storage.model_cache import CacheClaim as CacheClaim
    from eks_gpu.storage.model_cache import ModelCache as ModelCache
    from eks_gpu.storage.model_cache import ModelCacheArgs as ModelCacheArgs
    from eks_gpu.workloads.vllm_server import VllmServer as VllmServer
    from eks_gpu.workloads.vllm_server import VllmServerArgs as VllmServerArgs

_HOMES: Final = {
    "eks_gpu.cluster.add_ons": ("AddOns", "AddOnsArgs", "NodeAddOns"),
    "eks_gpu.cluster.admission_policies": ("AdmissionPolicies", "AdmissionPoliciesArgs"),
    "eks_gpu.cluster.control_plane": ("Cluster", "ClusterArgs"),
    "eks_gpu.cluster.network": ("Network", "NetworkArgs"),
    "eks_gpu.cluster.network_connection": ("NetworkConnection",),
    "eks_gpu.cluster.system_nodes": ("SystemNodes", "SystemNodesArgs"),
    "eks_gpu.foundation.cluster_connection": ("ClusterConnection",),
    "eks_gpu.foundation.namespace": ("Namespace", "NamespaceArgs", "PodSecurity"),
    "eks_gpu.gpu.device_plugin": ("DevicePlugin", "DevicePluginArgs"),
    "eks_gpu.gpu.efa_device_plugin": ("EfaDevicePlugin", "EfaDevicePluginArgs"),
    "eks_gpu.gpu.gpu_operator": ("GpuOperator", "GpuOperatorArgs"),
    "eks_gpu.gpu.gpu_software": ("GpuSoftware",),
    "eks_gpu.gpu.validation.gpu_validation": ("GpuValidation", "GpuValidationArgs", "PoolToProve"),
    "eks_gpu.gpu.validation.node_gate": ("NodeGate", "NodeGateArgs"),
    "eks_gpu.nodes.gpu_node_group": ("GpuNodeGroup", "GpuNodeGroupArgs"),
    "eks_gpu.nodes.gpu_node_pool": ("GpuNodePool", "GpuNodePoolArgs"),
    "eks_gpu.nodes.karpenter": ("Karpenter", "KarpenterArgs"),
    "eks_gpu.nodes.karpenter_connection": ("KarpenterConnection",),
    "eks_gpu.observability.gpu_monitoring": ("GpuMonitoring", "GpuMonitoringArgs"),
    "eks_gpu.storage.model_cache": ("CacheClaim", "ModelCache", "ModelCacheArgs"),
    "eks_gpu.workloads.vllm_server": ("VllmServer", "VllmServerArgs"),
}

_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # noqa: PLE0605 - a sorted list of names, derived from the table above


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name is
    """Import the module that defines ``name``, the first time it is asked for."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})
