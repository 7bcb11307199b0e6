"""Stand-ins for the providers `aws`, `eks` and `kubernetes`, which the real Pulumi engine starts as plugins."""
