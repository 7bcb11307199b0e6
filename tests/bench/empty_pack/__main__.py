"""Says nothing. The SDK refuses a pack without a rule, so it has one."""

from pulumi_policy import PolicyPack, ResourceValidationPolicy

if __name__ == "__main__":
    PolicyPack("empty", [ResourceValidationPolicy("nothing", "says nothing", lambda _args, _report: None)])
