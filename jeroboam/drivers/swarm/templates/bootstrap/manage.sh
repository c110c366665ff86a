#!/usr/bin/bash
# What a manager does all its life: hands the workers' token out, and forgets nodes that are gone.
# systemd starts it anew every few minutes, so that a token that was changed is known soon and a
# client that keeps the door busy is cut off.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}@scripts@/library.sh"

TLS="$ROOT/etc/jeroboam/tls"
DOOR="$STATE/door"

write_token() {
    local token addresses
    token="$(docker swarm join-token --quiet worker)" || return 1
    addresses="$(docker info --format '{{range .Swarm.RemoteManagers}}{{.Addr}} {{end}}')" || return 1
    rm -rf "$DOOR" && mkdir "$DOOR" &&
        printf '%s\n%s\n' "$token" "$addresses" > "$DOOR/$(cat "$ROOT/etc/jeroboam/join.key")"
}

# A worker that was set up anew leaves behind what it was before: down, and of the same name as
# one that is ready. What is down for another reason may come back.
forget_doubles() {
    local nodes id name status
    nodes="$(docker node ls --filter role=worker --format '{{.ID}} {{.Hostname}} {{.Status}}')" ||
        return 0
    while read -r id name status; do
        if [ "$status" = Down ] && grep -F -q " $name Ready" <<< "$nodes"; then
            docker node rm --force "$id" > /dev/null < /dev/null || say "node $id cannot be removed"
        fi
    done <<< "$nodes"
}

# Jeroboam marks the nodes that it removes; when they are down, they will not come back.
forget_removed() {
    local nodes id status
    nodes="$(docker node ls --filter node.label=jeroboam.leaving --format '{{.ID}} {{.Status}}')" ||
        return 0
    while read -r id status; do
        if [ "$status" = Down ]; then
            docker node rm --force "$id" > /dev/null < /dev/null || say "node $id cannot be removed"
        fi
    done <<< "$nodes"
}

umask 077
retry write_token
forget_doubles
forget_removed
cd "$DOOR" || exit 1
exec openssl s_server -WWW -quiet -accept "$JOIN_PORT" -cert "$TLS/server.crt" -key "$TLS/server.key"
