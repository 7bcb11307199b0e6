"""GPU capacity: launch templates, managed node groups, Karpenter and its node pools."""
