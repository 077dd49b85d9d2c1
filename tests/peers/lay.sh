#!/bin/bash
# lay.sh PEER HOST SCOPE HOME PROJECT
# Lays one install of another program of the family down. PEER is a folder of pkg/ (gsd-core-1.14.0,
# get-shit-done-cc-1.42.3, get-shit-done-redux-1.1.0 ...), with options after `+`: gsd-core-1.14.0+core
# (--profile=core), +standard, +portable (--portable-hooks), +force (--force-statusline). Or
# plugin-gsd-core-1.14.0: the plugin form for Claude Code, by the real client, offline (SCOPE=user|project|local in the
# environment). gsd-path-skeleton, gsd-pi-skeleton: file names of these with dummy content (they are not in npm here).
# NOUSER=1: do not first write the user's own files (user.sh). UNINSTALL=1: run the peer's uninstall.
B=$(cd "$(dirname "$0")" && pwd)
PEER=$1 H=$2 S=$3 HO=$4 P=$5
[ "${NOUSER:-}" ] || "$B/user.sh" "$H" "$S" "$HO" "$P"
mkdir -p "$HO" "$P"
case $PEER in *-skeleton) exec "$B/skeleton.sh" "${PEER%-skeleton}" "$H" "$S" "$HO" "$P";; plugin-*) exec "$B/plugin.sh" "${PEER#plugin-}" "$HO" "$P";; esac
NAME=${PEER%%+*}; X=()
case $PEER in *+core*) X+=(--profile=core);; esac
case $PEER in *+standard*) X+=(--profile=standard);; esac
case $PEER in *+portable*) X+=(--portable-hooks);; esac
case $PEER in *+force*) X+=(--force-statusline);; esac
[ "${UNINSTALL:-}" ] && X+=(--uninstall)
I=$(ls -d "$B/pkg/$NAME/node_modules/@opengsd/"*/bin/install.js "$B/pkg/$NAME/node_modules/get-shit-done-cc/bin/install.js" 2>/dev/null | head -1)
[ "$I" ] || { echo "no such peer: $NAME" >&2; exit 9; }
NB=$B/pkg/node-24/node_modules/node/bin
cd "$P" && exec env -i PATH="$NB:/usr/local/bin:/usr/bin:/bin" HOME="$HO" XDG_CONFIG_HOME="$HO/.config" XDG_STATE_HOME="$HO/.local/state" \
 XDG_DATA_HOME="$HO/.local/share" XDG_CACHE_HOME="$HO/.cache" LANG=C.UTF-8 npm_config_offline=true npm_config_prefix="$HO/.npm-global" npm_config_cache="$HO/.cache/npm" \
 "$NB/node" "$I" "--$H" "--$S" "${X[@]}" </dev/null
