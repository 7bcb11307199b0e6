"""The Kubernetes of the sandbox: a real control plane on this machine, with nodes that are pretended."""

VARIABLE = "EKS_GPU_SANDBOX_KUBERNETES"
"""Says to whatever the engine starts that this run uses it: the path of the real Kubernetes provider."""

PROXY_VARIABLE = f"{VARIABLE}_PROXY"
"""Where that provider finds the chart mirror. Not ``HTTPS_PROXY`` itself: nothing else is to go through it."""

AUTHORITY_VARIABLE = f"{VARIABLE}_CA"
"""The file with the authority that signed the mirror's certificates."""
