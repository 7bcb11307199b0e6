// Pins the module that the CRDs of node feature discovery are read from; nothing is built of it. See ../../go_module.py.
module eks-gpu/sandbox/node_feature_discovery_module

go 1.24

require sigs.k8s.io/node-feature-discovery v0.19.0
