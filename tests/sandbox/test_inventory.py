from __future__ import annotations

import pytest

from sandbox import aws
from sandbox.checkout import Checkout
from sandbox.inventory import LISTINGS, Account, Listing

US, EU = "us-east-1", "eu-west-1"

NOWHERE = Account("http://127.0.0.1:1")
"""Knows the services' models, and calls nobody."""


@pytest.fixture
def account(checkout: Checkout) -> Account:
    return Account(aws.start(checkout).url)


def test_a_new_account_holds_nothing_in_any_region(account: Account) -> None:
    assert account.contents([US, EU]) == []


def test_what_was_made_is_listed_with_its_region_and_gone_when_it_is_deleted(account: Account) -> None:
    ec2, iam, sqs, kms = (
        account.client(service, region) for service, region in (("ec2", EU), ("iam", US), ("sqs", US), ("kms", US))
    )
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    iam.create_role(RoleName="node", AssumeRolePolicyDocument="{}")
    queue = sqs.create_queue(QueueName="interruptions")["QueueUrl"]
    key = kms.create_key()["KeyMetadata"]["KeyId"]

    listed = account.contents([US, EU])

    assert {f"{EU} VPC {vpc}", "global role node", f"{US} queue {queue}", f"{US} KMS key {key}"} <= set(listed)
    assert not any(line.startswith(f"{US} VPC") for line in listed)

    ec2.delete_vpc(VpcId=vpc)
    iam.delete_role(RoleName="node")
    sqs.delete_queue(QueueUrl=queue)
    kms.schedule_key_deletion(KeyId=key)

    assert account.contents([US, EU]) == []


def test_a_cluster_and_a_file_system_that_were_forgotten_are_found(account: Account) -> None:
    role = "arn:aws:iam::123456789012:role/cluster"
    account.client("eks", US).create_cluster(name="gpu", roleArn=role, resourcesVpcConfig={})
    account.client("efs", US).create_file_system(CreationToken="cache")

    kinds = [line.split(" ", 1)[1].rsplit(" ", 1)[0] for line in account.contents([US])]

    assert kinds == ["EKS cluster", "file system"]


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda listing: f"{listing.service}-{listing.kind}")
def test_every_listing_is_an_operation_its_service_has(listing: Listing) -> None:
    client = NOWHERE.client(listing.service, US)
    operation = client.meta.method_to_api_mapping[listing.operation]

    member = client.meta.service_model.operation_model(operation).output_shape.members[listing.result].member

    assert member.type_name == ("structure" if listing.identity else "string")
    assert not listing.identity or listing.identity in member.members
