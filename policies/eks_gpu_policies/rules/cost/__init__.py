"""Rules on money and quotas."""
