"""The rules that an API server can hold by itself, as ValidatingAdmissionPolicies.

An admission policy sees one object and says yes or no in CEL. So it holds what a rule says of one object, for whoever
creates it by whatever means, when neither a preview nor a check of manifests was in between. ``said`` describes one
policy, ``pods``, ``pools`` and ``others`` write them, ``manifests`` makes Kubernetes objects of them, and ``unsaid``
tells of every other rule why it needs more than one object.
"""
