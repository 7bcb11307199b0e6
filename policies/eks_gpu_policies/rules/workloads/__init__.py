"""Rules on pods."""
