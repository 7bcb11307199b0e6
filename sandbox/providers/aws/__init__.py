"""The stand-in for the `aws` provider: it judges by the SDK and keeps a named subset of resources in moto."""
