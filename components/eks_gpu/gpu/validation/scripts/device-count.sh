#!/bin/sh
# The container sees as many devices as it asked for, and that is as many as the catalogue promises.
# EXPECTED: how many. DEVICE: GPU, or MIG for partitions.
set -u
check=device-count

if ! listed=$(nvidia-smi -L 2>&1); then
    echo "$listed"
    echo "$check: FAIL expected $EXPECTED ${DEVICE} devices, got an error of nvidia-smi: the driver does not answer"
    exit 1
fi
found=$(printf '%s\n' "$listed" | grep -c "^ *$DEVICE " || true)
if [ "$found" -ne "$EXPECTED" ]; then
    echo "$check: FAIL expected $EXPECTED $DEVICE devices, got $found"
    exit 1
fi
echo "$check: PASS expected $EXPECTED $DEVICE devices, got $found"
