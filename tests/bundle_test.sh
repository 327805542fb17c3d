#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/bundle TUTTI: the packed program runs, with nothing but its own libraries, and starts itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tutti=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache

fail() { printf 'bundle test: %s\n' "$*" >&2; exit 1; }

echo "== packed and unpacked"
tools/bundle "$folder/packed.tgz" "$tutti" -- recipes
(mkdir "$folder/there" && cd "$folder/there" && tar xzf ../packed.tgz)
packed=$folder/there/packed
[ -f "$packed/recipes/digits.toml" ] || fail "the files beside the program are missing"

echo "== its own libraries"
foreign=$(LD_DEBUG=libs "$packed/tutti" --version 2>&1 | sed -n 's/.*calling init: //p' |
  grep -v "^$packed/" || true)
# The script's own shell needs those of the machine.
foreign=$(grep -v -e '/libc\.so' -e '/ld-linux' <<<"$foreign" || true)
[ -z "$foreign" ] || fail "libraries from elsewhere: $foreign"

echo "== it trains by a recipe beside it, also as a child of itself"
(cd "$folder" && "$packed/tutti" launch -n 2 -- train partitions/data-parallel \
  --set train.steps=2 --set train.evaluate_every=0)

echo "== wrong command lines"
! tools/bundle "$folder/packed.zip" "$tutti" 2>/dev/null || fail "a bundle that is no .tgz is made"
! tools/bundle "$folder/x.tgz" recipes/digits.toml 2>/dev/null || fail "a recipe is no program"
