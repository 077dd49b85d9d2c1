#!/bin/bash
# get.sh FOLDER PEER...
# Makes the folder that GSD_PEERS names, with these programs from npm: gsd-core-1.14.0, get-shit-done-cc-1.42.3,
# get-shit-done-redux-1.1.0, or other versions of them. What is there already is kept.
set -euo pipefail
B=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/pkg"
cp "$B/lay.sh" "$B/user.sh" "$1/"
cd "$1/pkg"
shift
# Some of them need a later Node than the one that may be installed.
for PEER in node-24 "$@"; do
  NAME=${PEER%-*} VERSION=${PEER##*-}
  case $NAME in gsd-core | get-shit-done-redux) NAME=@opengsd/$NAME ;; esac
  [ -d "$PEER/node_modules" ] && continue
  mkdir -p "$PEER"
  echo '{}' > "$PEER/package.json"
  npm install --silent --no-audit --no-fund --prefix "$PEER" "$NAME@$VERSION"
done
