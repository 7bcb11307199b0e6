from __future__ import annotations

import pytest

from eks_gpu.foundation.policy_document import allow, deny, document, trust


def test_a_document_says_its_language_and_its_statements_in_order() -> None:
    first = allow("Read", ["s3:GetObject"], ["arn:aws:s3:::a/*"])
    second = deny("NeverPlain", ["s3:*"], ["*"], condition={"Bool": {"aws:SecureTransport": "false"}})

    assert document(first, second) == {
        "Version": "2012-10-17",
        "Statement": [
            {"Sid": "Read", "Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::a/*"]},
            {
                "Sid": "NeverPlain",
                "Effect": "Deny",
                "Action": ["s3:*"],
                "Resource": ["*"],
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
        ],
    }


def test_a_wildcard_action_cannot_be_allowed() -> None:
    with pytest.raises(ValueError, match=r"^statement Read allows s3:\*; spell out the actions that are needed$"):
        allow("Read", ["s3:GetObject", "s3:*"], ["*"])


def test_a_role_trusts_one_service() -> None:
    assert trust("ec2.amazonaws.com")["Statement"] == [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": ["sts:AssumeRole"]}
    ]
