// Pins the module that Karpenter's CRDs are read from; nothing is built of it. See ../../go_module.py.
module eks-gpu/sandbox/karpenter_module

go 1.24

require github.com/aws/karpenter-provider-aws v1.14.1
