"""The stand-in for the `eks` provider: the components `Cluster` and `ManagedNodeGroup`."""
