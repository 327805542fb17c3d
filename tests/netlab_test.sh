#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/netlab TUTTI: sums and trains in it, limits the rate, gives exit codes on, leaves nothing
# behind, also when it is interrupted; says so where it can't work. Exit code 77: skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tutti=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache

fail() { printf 'netlab test: %s\n' "$*" >&2; exit 1; }
left_behind() { ip netns list | grep -o "^netlab$1\.[^ ]*" || true; }

tools/netlab -n 2 --rate 100mbit -- true || exit $?  # 77 when something is missing

echo "== as in a container that may not make namespaces"
code=0
setpriv --bounding-set=-sys_admin,-net_admin tools/netlab -n 2 -- true || code=$?
[ $code = 77 ] || fail "without the right to make namespaces it exits $code, expected 77"

echo "== 16 MB of sums at 1 Gbit and the least time they take"
tools/netlab -n 4 --rate 1gbit -- "$tutti" bench allreduce --min 16MB --max 16MB --rounds 3 \
  --algorithms ring,mpi-blocking --json "$folder/times.jsonl"
seconds=$(sed -n 's/.*"algorithm":"ring".*"seconds":\([0-9.e-]*\),.*/\1/p' "$folder/times.jsonl")
# 2 · 3/4 · 16 MB · 8 bit in 0.192 s; a burst may pass faster.
awk -v s="$seconds" 'BEGIN { exit !(s > 0.18) }' || fail "16 MB took $seconds s: the rate is not limited"

echo "== links between nodes, by which the training below then goes"
tools/netlab -n 2 --rate 1gbit -- "$tutti" calibrate --quick
grep -q '"handling"' "$folder/cache/tutti/network.json" || fail "what handling messages costs is not kept"

echo "== training"
(cd "$folder" && "$OLDPWD/tools/netlab" -n 2 --rate 1gbit -- "$tutti" train --set train.steps=3 \
  --set train.evaluate_every=0 2>&1 | tail -3)

echo "== an exit code"
code=0
tools/netlab -n 2 -- false || code=$?
[ $code != 0 ] || fail "the failure of the command is lost"

echo "== interrupted"
tools/netlab -n 2 -- sleep 30 &
lab=$!
sleep 2
[ -n "$(left_behind $lab)" ] || fail "no namespaces of $lab"
kill -TERM $lab
wait $lab || true
[ -z "$(left_behind $lab)" ] || fail "left behind: $(left_behind $lab)"
