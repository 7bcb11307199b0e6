"""The ``eks-gpu`` command line."""
