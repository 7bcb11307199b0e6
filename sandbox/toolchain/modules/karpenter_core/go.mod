// Pins the module that the CRDs of Karpenter itself, without a cloud, are read from; it is the version of the tool that is built. See ../../go_module.py.
module eks-gpu/sandbox/karpenter_core_module

go 1.24

require sigs.k8s.io/karpenter v1.14.1
