"""GPU platforms on Amazon EKS that cannot be built wrong."""
