// Pins the module that kwok's stages are read from; it is the version of the tool that is built. See ../../go_module.py.
module eks-gpu/sandbox/kwok_module

go 1.24

require sigs.k8s.io/kwok v0.8.0
