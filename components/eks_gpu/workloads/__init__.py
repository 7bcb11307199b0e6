"""Servers and jobs that use GPUs."""
