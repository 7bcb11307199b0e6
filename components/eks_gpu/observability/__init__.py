"""Metrics, alerts and runbooks for GPUs."""
