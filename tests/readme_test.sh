#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readme_test.sh TUTTI mpi|"" [PAGE …]: runs every line of a page's code blocks that starts tutti, as it stands
# there, in one folder that holds nothing at first but the files that are the reader's own. The `tutti` on the
# path adds options that shorten a command; it takes none away. Without PAGE: the README and the longer tour.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=$(realpath "$1") mpi=$2
shift 2
if [ $# != 1 ]; then  # each page in a folder of its own
  [ $# -gt 0 ] || set -- README.md docs/tour.md
  failed=0
  for page in "$@"; do "tests/$(basename "$0")" "$program" "$mpi" "$page" || failed=1; done
  exit $failed
fi
page=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/bin" "$folder/work" "$folder/data/mnist"
export XDG_CACHE_HOME=$folder/cache TUTTI_DATA=$folder/data PATH=$folder/bin:$PATH
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# Why a line is not run; nothing where it is. A line that no test can run has its place here.
reason_to_skip() {
  case $1 in
    *mpirun\ * | *--transport\ mpi*) [ -n "$mpi" ] || echo "tutti was built without MPI" ;;
  esac
}

cat >"$folder/bin/tutti" <<SCRIPT
#!/usr/bin/env bash
words=("\$@")
case " \$* " in
  *" --help "* | *" --simulate "*) ;;
  " train "* | " launch "*) words+=(--set train.steps=3) ;;
  " tune "*) words+=(--set train.batch=2 --set machine.threads=1) ;;
  " calibrate "*) words+=(--quick --threads 1) ;;
  " bench "*) words+=(--max 4KiB --rounds 1) ;;
  " data get "*)
    # Nothing is downloaded: no program to fetch with is found (exit code 1), unless the words are wrong (2).
    code=0
    PATH=/none "$program" "\${words[@]}" || code=\$?
    [ \$code = 1 ] && exit 0 || exit \$code ;;
esac
exec "$program" "\${words[@]}"
SCRIPT
chmod +x "$folder/bin/tutti"

# Fetched data: 64 black images in place of each part of MNIST.
for part in train t10k; do
  { printf '\0\0\10\3\0\0\0\100\0\0\0\34\0\0\0\34' && head -c $((64 * 28 * 28)) /dev/zero; } \
    >"$folder/data/mnist/$part-images-idx3-ubyte"
  { printf '\0\0\10\1\0\0\0\100' && head -c 64 /dev/zero; } >"$folder/data/mnist/$part-labels-idx1-ubyte"
done

# The reader's own files, where a line names them: recipes for digits, with a sample for each of many ranks, and
# images of 8×8 pixels.
picture=iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAAFElEQVR42mNgYDjx//8JBhCghAEAAEQccYJwee0AAAAASUVORK5CYII=
provide() {
  local file
  for file in $(grep -oE '(^|[ =])[A-Za-z0-9_-]+\.(toml|png)' <<<"$1" | tr -d ' ='); do
    case $file in
      *.toml)  # a recipe that comes with tutti is nobody's own
        [ -e "$file" ] || "$program" list recipes "${file%.toml}" >/dev/null 2>&1 ||
          "$program" list recipes digits | sed 's/^batch = .*/batch = 128/' >"$file"
        ;;
      *.png) [ -e "$file" ] || base64 -d <<<"$picture" >"$file" ;;
    esac
  done
}

# The exit code that a line must have, as a pattern. What is told to go wrong may end a run (1), but the words must
# be right (not 2).
expected_code() {
  case $1 in
    *simulation.faults=* | *machine.fault=*) echo '[01]' ;;
    *) echo 0 ;;
  esac
}

# The lines without comments, with those that end in \ joined; blocks of another language than the shell's are
# left out.
lines=$(sed -e ':more' -e '/\\$/{N;s/\\\n *//;b more' -e '}' -e 's/ \+# .*//' "$page" |
  awk '/^```/ { inside = !inside; shell = /^```(sh|bash|console)?$/; next } inside && shell' |
  grep -E '^([A-Z_]+=[^ ]+ +)*(mpirun .*)?tutti( |$)' || true)
[ -n "$lines" ] || { echo "readme test: $page shows no command" >&2; exit 1; }

cd "$folder/work"
failed=0
while IFS= read -r line; do
  line=${line//…/more.png}  # and so on
  why=$(reason_to_skip "$line")
  if [ -n "$why" ]; then
    printf 'skipped (%s)  %s\n' "$why" "$line"
    continue
  fi
  provide "$line"
  started=$SECONDS
  code=0
  timeout 120 bash -c "$line" >"$folder/log" 2>&1 </dev/null || code=$?
  if [[ $code == $(expected_code "$line") ]]; then
    printf '%3d s  %s\n' $((SECONDS - started)) "$line"
  else
    printf 'FAILED with exit code %d  %s\n' $code "$line"
    tail -5 "$folder/log"
    failed=1
  fi
done <<<"$lines"
exit $failed
