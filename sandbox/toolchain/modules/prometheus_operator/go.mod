// Pins the module that the prometheus-operator's CRDs are read from; nothing is built of it. See ../../go_module.py.
module eks-gpu/sandbox/prometheus_operator_module

go 1.24

require github.com/prometheus-operator/prometheus-operator v0.94.0
