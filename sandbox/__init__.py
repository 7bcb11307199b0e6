"""An AWS, a Kubernetes API and a Pulumi engine on this machine."""
