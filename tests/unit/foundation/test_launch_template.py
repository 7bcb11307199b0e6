from __future__ import annotations

from eks_gpu.foundation.launch_template import gp3_volume, metadata_options, tag_specifications


def test_n01_a_volume_is_encrypted_gp3_with_its_throughput_set_and_goes_with_its_instance() -> None:
    assert gp3_volume("/dev/xvda", 100, iops=3000, throughput_mib_per_second=500) == {
        "device_name": "/dev/xvda",
        "ebs": {
            "volume_type": "gp3",
            "volume_size": 100,
            "iops": 3000,
            "throughput": 500,
            "encrypted": "true",
            "delete_on_termination": "true",
        },
    }


def test_a_customer_key_is_used_where_one_is_given() -> None:
    volume = gp3_volume("/dev/xvda", 100, iops=3000, throughput_mib_per_second=500, kms_key_id="alias/ebs")
    assert volume["ebs"] == {
        "volume_type": "gp3",
        "volume_size": 100,
        "iops": 3000,
        "throughput": 500,
        "encrypted": "true",
        "delete_on_termination": "true",
        "kms_key_id": "alias/ebs",
    }


def test_metadata_needs_a_token_and_is_out_of_reach_of_pods() -> None:
    assert metadata_options() == {
        "http_endpoint": "enabled",
        "http_tokens": "required",
        "http_put_response_hop_limit": 1,
        "instance_metadata_tags": "disabled",
    }


def test_tags_reach_everything_that_costs_money() -> None:
    specifications = tag_specifications({"owner": "ml"})
    assert [kind["resource_type"] for kind in specifications] == ["instance", "volume", "network-interface"]
    assert all(kind["tags"] == {"owner": "ml"} for kind in specifications)
