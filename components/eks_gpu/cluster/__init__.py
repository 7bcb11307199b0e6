"""The network, the control plane, the system nodes and the add-ons."""
