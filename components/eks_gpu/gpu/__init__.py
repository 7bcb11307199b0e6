"""The software that makes a GPU visible to pods: the plain path and the GPU Operator."""
