"""Kubernetes manifests as resources that rules can judge, each with the line that it came from.

``documents`` cuts a text into YAML documents and says what is wrong with those that cannot be read, ``objects`` finds
the Kubernetes objects in them, and ``files`` decides which files of a folder are manifests at all.
"""
