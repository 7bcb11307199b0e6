"""Runs a Pulumi program against a recorder, with no engine and no cloud, and hands out plain resources."""
