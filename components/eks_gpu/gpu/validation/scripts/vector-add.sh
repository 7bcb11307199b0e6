#!/bin/sh
# NVIDIA's sample adds two vectors on the first GPU and compares: driver, runtime and GPU agree.
# SAMPLE: the program. SECONDS_LONG: again and again for so long, so that pods which share a GPU do it at the same time; 0 for once.
set -u
check=vector-add
rounds=0
end=$(($(date +%s) + SECONDS_LONG))

while :; do
    said=$("$SAMPLE" 2>&1)
    code=$?
    if [ "$code" -ne 0 ] || ! printf '%s\n' "$said" | grep -q 'Test PASSED'; then
        echo "$said"
        echo "$check: FAIL expected 'Test PASSED', got exit code $code in round $((rounds + 1))"
        exit 1
    fi
    rounds=$((rounds + 1))
    [ "$(date +%s)" -ge "$end" ] && break
done
echo "$check: PASS expected 'Test PASSED', got it $rounds times"
