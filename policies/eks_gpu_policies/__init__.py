"""The policy pack: what must be true of any GPU deployment."""
