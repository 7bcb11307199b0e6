#!/bin/sh
# DCGM's own diagnostics, against an engine of this pod alone: those of exporter and node agents are not asked.
# TEST: a level (1 to 3) or the name of a test. PARAMETERS: DCGM's own, may be empty. NAME: what the result is called.
set -u
check=$NAME

if ! started=$(nv-hostengine -b 127.0.0.1 2>&1); then
    echo "$started"
    echo "$check: FAIL expected DCGM's engine to start, got an error"
    exit 1
fi
said=$(dcgmi diag -r "$TEST" ${PARAMETERS:+-p "$PARAMETERS"} -j 2>&1)
code=$?
nv-hostengine -t >/dev/null 2>&1
echo "$said"
statuses=$(printf '%s\n' "$said" | tr -s ',{}' '\n' | sed -n 's/.*"status" *: *"\([A-Za-z]*\)".*/\1/p')
passed=$(printf '%s\n' "$statuses" | grep -ci '^pass$')
failed=$(printf '%s\n' "$statuses" | grep -ci '^fail$')
if [ "$code" -ne 0 ] || [ "$failed" -gt 0 ]; then
    echo "$check: FAIL expected dcgmi diag -r $TEST ${PARAMETERS:-} to pass, got exit code $code, $failed failed"
    exit 1
fi
if [ "$passed" -eq 0 ]; then
    echo "$check: FAIL expected dcgmi diag -r $TEST ${PARAMETERS:-} to test something, got no test that passed"
    exit 1
fi
echo "$check: PASS expected dcgmi diag -r $TEST ${PARAMETERS:-} to pass, got $passed passed"
