"""``up``, ``down`` and ``recover``."""
