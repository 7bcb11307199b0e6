"""The stand-in for the `eks` provider: the components `Cluster`, `ManagedNodeGroup`, `NodeGroupV2` and `Addon`."""
