"""The stand-in for the `kubernetes` provider: it judges and echoes objects, and has no cluster behind it."""
