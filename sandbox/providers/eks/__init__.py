"""The stand-in for the `eks` provider: the components `Cluster`, `ManagedNodeGroup` and `NodeGroupV2`."""
