"""How GPUs are shared: what nodes then advertise, what layouts GPUs can hold, and what the device plugin is told."""
