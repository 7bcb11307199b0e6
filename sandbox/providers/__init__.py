"""Stand-ins for the resource providers `aws`, `eks` and `kubernetes`, which the real Pulumi engine starts as plugins."""
