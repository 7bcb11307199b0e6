"""What components stand on: their base class, the connection to a cluster, charts and pod identities."""
