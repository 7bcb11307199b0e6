"""What ``python -m sandbox`` can do, one module per command or pair of commands."""
