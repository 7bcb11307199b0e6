"""``python -m eks_gpu.cli``: the same as ``eks-gpu``."""

from eks_gpu.cli import main

if __name__ == "__main__":
    main()
