"""Rules on sharing GPUs."""
