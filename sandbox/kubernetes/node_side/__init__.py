"""What real nodes, their kubelets, drivers and controllers would do, and kwok does not.

One process with one watch for each kind. Its duties, each a stand-in that says in its own file what it does not prove:

``gpus``              a device plugin's pod makes the GPUs of its node known
``terminated``        pods of an instance that is gone, are gone
``unnoticed``         pods that kwok has overlooked are started after all
``volumes``           claims on EBS and EFS get their volume
``custom_resources``  the GPU Operator and Karpenter's AWS part report that what they manage is ready
``scaler``            Karpenter runs while a pod of its Deployment does
"""
