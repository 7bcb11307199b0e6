"""From resources to the domain model of ``eks_gpu.planning``."""
