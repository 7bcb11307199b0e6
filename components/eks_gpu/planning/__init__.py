"""What follows from facts and resources: the domain model of pools, pod templates and volumes. Pure."""
