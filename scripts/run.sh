#!/bin/sh
# The entry point of all commands: `sh scripts/run.sh <start|tessera|test|test:all|test:asan|test:threads|test:engine|test:mutants|fuzz:native|release|release:native|check|setup> [arguments]`.
#
# The scripts of package.json call this file, so that `npm start` works on a fresh clone with
# only Node.js and npm, and `bun start` does the same where Bun is installed. It brings Bun, the
# dependencies and the native addon up to date, then runs the command. Each step stores a fingerprint
# of its inputs, and takes a few milliseconds if nothing has changed.
set -eu

here=$(pwd -P)
cd "$(dirname "$0")/.."
root=$(pwd -P)
# Relative paths are the caller's. npm changes to the folder of package.json before it runs a script.
case ${npm_package_json:-} in
"$here/package.json") [ "$here" = "$root" ] && here=${INIT_CWD:-$here} ;;
esac
TESSERA_CWD=$here
export TESSERA_CWD
# Bun gives freed memory back to the system after a second. By default it does so sooner, and an import frees
# and takes the same megabytes all the time.
MIMALLOC_PURGE_DELAY=${MIMALLOC_PURGE_DELAY:-1000}
export MIMALLOC_PURGE_DELAY
cache=$root/.cache
bun_version=$(sed -n 's/^ *"bun": "\([0-9.]*\)".*/\1/p' package.json)

say() { printf 'tessera: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

# Runs a command with its output in a log file, which is of interest only if the command fails.
quietly() {
  log=$1
  shift
  mkdir -p "$cache"
  "$@" >"$log" 2>&1 </dev/null
}

# A checksum of the contents of files.
fingerprint() { cat "$@" | cksum; }

is_current() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }

# --- Bun ---------------------------------------------------------------------------------------

is_bun() { [ -n "$1" ] && [ "$("$1" --version 2>/dev/null)" = "$bun_version" ]; }

find_bun() {
  bun=$(command -v bun || true)
  is_bun "$bun" && return
  bun=$cache/bun-$bun_version/bun
  [ -x "$bun" ] || fetch_bun
  # Child processes, such as install scripts, find the same Bun.
  PATH=$cache/bun-$bun_version:$PATH
  export PATH
}

# npm may skip install scripts, so the binary is taken from the package for this platform instead of
# relying on Bun's own install script.
fetch_bun() {
  command -v npm >/dev/null 2>&1 ||
    fail "Bun $bun_version is needed: install Node.js with npm, or Bun from https://bun.sh, and try again"
  say "fetching Bun $bun_version from npm"
  download=$cache/bun-download-$$
  trap 'rm -rf "$download"' EXIT
  trap 'exit 130' INT TERM HUP
  mkdir -p "$download"
  quietly "$cache/bun.log" npm install --prefix "$download" --no-save --ignore-scripts \
    --include=optional --no-audit --no-fund "bun@$bun_version" ||
    fail "could not fetch Bun $bun_version: check the network or the npm proxy, then try again (see .cache/bun.log)"
  found=
  for candidate in "$download"/node_modules/@oven/bun-*/bin/bun; do
    if is_bun "$candidate"; then found=$candidate; fi
  done
  [ -n "$found" ] ||
    fail "Bun $bun_version does not run on this machine ($(uname -sm)): see https://bun.sh/docs/installation for what it needs"
  mkdir -p "$cache/bun-$bun_version"
  mv "$found" "$bun"
  rm -rf "$download"
  trap - EXIT INT TERM HUP
}

# --- dependencies ------------------------------------------------------------------------------

installed_stamp=node_modules/.tessera-installed
installed_from() { echo "$(fingerprint package.json bun.lock patches/*) $bun_version $(uname -sm)"; }

install_dependencies() {
  is_current "$installed_stamp" "$(installed_from)" && return
  say "installing the dependencies"
  # TESSERA_SETUP keeps the postinstall script from building the addon, which is a separate step.
  TESSERA_SETUP=1 quietly "$cache/install.log" "$bun" install --frozen-lockfile || explain_install
  installed_from >"$installed_stamp"
}

explain_install() {
  if grep -qi 'no space left\|ENOSPC' "$cache/install.log"; then
    fail "could not install the dependencies: the disk is full, free some space and try again"
  elif grep -qi 'lockfile had changes' "$cache/install.log"; then
    fail "package.json and bun.lock disagree: run \`bun install\` and commit bun.lock"
  elif grep -qi 'EACCES\|permission denied' "$cache/install.log"; then
    fail "could not install the dependencies: $root is not writable, change its owner or clone it elsewhere (see .cache/install.log)"
  fi
  fail "could not install the dependencies: check the network or the proxy, then try again (see .cache/install.log)"
}

# --- native addon ------------------------------------------------------------------------------

built_stamp=native/build/.tessera-built
built_from() {
  # Sorted, because the order of a folder differs between clones.
  find native -type f ! -path 'native/build/*' | LC_ALL=C sort | xargs cat | cksum
  cat "$installed_stamp" 2>/dev/null || true
}

# The build script checks what is out of date and reports what is missing.
build_addon() {
  # Computed before the build, so that later changes are built next time.
  wanted=$(built_from)
  is_current "$built_stamp" "$wanted" && return
  say "preparing the native addon (compiling takes a minute or two if its sources have changed, and longer on a busy machine)"
  "$bun" native/build-progress.ts >&2 || exit 1
  mkdir -p native/build
  printf '%s\n' "$wanted" >"$built_stamp"
}

setup() {
  find_bun
  [ -n "${TESSERA_PREPARED:-}" ] && return
  is_set_up && return
  # Of two concurrent commands on a fresh clone the second waits for the first.
  mkdir -p "$cache"
  "$bun" native/lock.ts "$cache/prepare.lock" sh scripts/run.sh prepare || exit
}

is_set_up() {
  is_current "$installed_stamp" "$(installed_from)" && is_current "$built_stamp" "$(built_from)"
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
start)
  setup
  exec "$bun" src/main.ts "$@"
  ;;
tessera)
  setup
  exec "$bun" src/cli/main.ts "$@"
  ;;
test)
  setup
  exec "$bun" scripts/test.ts "$@"
  ;;
test:all)
  setup
  exec "$bun" scripts/test.ts --all "$@"
  ;;
test:asan)
  setup
  exec "$bun" scripts/asan.ts "$@"
  ;;
test:threads)
  setup
  exec "$bun" scripts/stress.ts "$@"
  ;;
test:engine)
  setup
  exec "$bun" scripts/engine.ts "$@"
  ;;
test:mutants)
  setup
  exec "$bun" scripts/mutants.ts "$@"
  ;;
fuzz:native)
  setup
  exec "$bun" scripts/fuzz-native.ts "$@"
  ;;
release)
  setup
  exec "$bun" scripts/release.ts "$@"
  ;;
release:native)
  setup
  exec "$bun" scripts/release-native.ts "$@"
  ;;
check)
  setup
  "$bun" node_modules/.bin/biome check --error-on-warnings "$@"
  # Each checker checks the types of the libraries again, so several take twice the processor time of one.
  "$bun" node_modules/typescript-7/bin/tsc --singleThreaded
  "$bun" node_modules/typescript-7/bin/tsc --singleThreaded -p src/console/page
  "$bun" node_modules/typescript-7/bin/tsc --singleThreaded -p bench/k6
  # Files and exports without a user, and the direction of imports.
  "$bun" node_modules/.bin/knip
  exec "$bun" node_modules/.bin/depcruise --output-type err src workers native test bench support scripts
  ;;
setup)
  setup
  ;;
prepare)
  # The part of the setup that one command at a time may run.
  find_bun
  install_dependencies
  build_addon
  ;;
postinstall)
  # After a plain `bun install` or `npm install`. Within `setup`, the addon is built later.
  [ -n "${TESSERA_SETUP:-}" ] && exit 0
  find_bun
  build_addon
  ;;
*)
  say "usage: sh scripts/run.sh <start|tessera|test|test:all|test:asan|test:threads|test:engine|test:mutants|fuzz:native|release|release:native|check|setup> [arguments]"
  exit 2
  ;;
esac
