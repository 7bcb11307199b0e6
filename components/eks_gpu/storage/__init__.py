"""Shared storage for models and training."""
