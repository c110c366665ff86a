#!/usr/bin/bash
# Makes the node a part of the swarm: the first manager founds it, all others join.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}@scripts@/library.sh"

TLS="$ROOT/etc/jeroboam/tls"
JOIN_KEY="$ROOT/etc/jeroboam/join.key"
AUTHORITY="$ROOT/etc/jeroboam/ca.crt"
SWARM_PORT=2377
QUESTIONS=3

is_manager() {
    [ -e "$ROOT/etc/jeroboam/pki/ca.key" ]
}

is_member() {
    [ "$(docker info --format '{{.Swarm.LocalNodeState}}')" = active ]
}

# other_manager ARGUMENT...: asks whoever answers behind the cluster's address, by TLS both ways.
other_manager() {
    timeout 60 docker --host "tcp://$API_ADDRESS:$API_PORT" --tlsverify --tlscacert "$TLS/ca.crt" \
        --tlscert "$TLS/server.crt" --tlskey "$TLS/server.key" "$@"
}

# A first manager that is set up anew finds its swarm alive, where a load balancer leads to the
# other managers. The question is repeated: the load balancer may lead back to this node, or not
# have noticed yet that it was away.
swarm_lives() {
    if [ "$API_ADDRESS" = "$NODE_ADDRESS" ]; then return 1; fi
    local question
    for question in $(seq "$QUESTIONS"); do
        if other_manager node ls --quiet > /dev/null; then return 0; fi
        say "no other manager answers ($question of $QUESTIONS)"
        sleep "$PAUSE"
    done
    return 1
}

found() {
    docker swarm init --advertise-addr "$NODE_ADDRESS" --listen-addr "$NODE_ADDRESS:$SWARM_PORT" \
        --default-addr-pool "$ADDRESS_POOL" --default-addr-pool-mask-length "$ADDRESS_POOL_MASK" \
        --cert-expiry "$CERTIFICATE_EXPIRY" --task-history-limit "$TASK_HISTORY" > /dev/null
}

# The swarm forgets the manager that this node was before it was set up anew: a manager that is
# gone counts when the others look for a majority.
forget_me() {
    local nodes node name
    nodes="$(other_manager node ls --format '{{.ID}} {{.Hostname}}')" || return 1
    while read -r node name; do
        if [ "$name" != "$NODE_NAME" ]; then continue; fi
        other_manager node demote "$node" > /dev/null < /dev/null || return 1
        other_manager node rm --force "$node" > /dev/null < /dev/null || return 1
    done <<< "$nodes"
}

# Prints the token on the first line and the addresses of managers on the second.
ask_a_manager() {
    other_manager swarm join-token --quiet manager &&
        other_manager info --format '{{range .Swarm.RemoteManagers}}{{.Addr}} {{end}}'
}

# The worker's way to its token: any manager serves it by TLS to who knows the name of the file,
# which is a secret and therefore no argument of a program.
ask_the_door() {
    printf 'url = "https://%s:%s/%s"\n' "$API_ADDRESS" "$JOIN_PORT" "$(cat "$JOIN_KEY")" |
        curl --config - --cacert "$AUTHORITY" --noproxy '*' --silent --fail \
            --connect-timeout 5 --max-time 20
}

# Docker's own command would show the token to everybody who lists processes.
enter() {
    local token addresses
    { read -r token && read -r addresses; } <<< "$1" || return 1
    case "$token" in SWMTKN-*) ;; *) return 1 ;; esac
    addresses="$(sed -E 's/[^ ]+/"&"/g; s/ +/, /g; s/, $//' <<< "$addresses")"
    printf '{"ListenAddr": "%s:%s", "AdvertiseAddr": "%s", "RemoteAddrs": [%s], "JoinToken": "%s"}' \
        "$NODE_ADDRESS" "$SWARM_PORT" "$NODE_ADDRESS" "$addresses" "$token" |
        curl --unix-socket /var/run/docker.sock --silent --show-error --fail --max-time 120 \
            --header 'Content-Type: application/json' --data @- --output /dev/null \
            http://localhost/swarm/join
}

join() {
    local answer
    if is_manager; then
        forget_me || return 1
        answer="$(ask_a_manager)" || return 1
    else
        answer="$(ask_the_door)" || return 1
    fi
    enter "$answer"
}

become_member() {
    # A volume that outlives the server brings the membership along; an attempt that was cut off
    # may have succeeded.
    if is_member; then return 0; fi
    if is_manager && [ "$NODE_INDEX" = 0 ] && ! swarm_lives; then
        found
    else
        join
    fi && is_member
}

# Managers come one after the other, so that the swarm never waits for two new ones at a time.
if is_manager && ! is_member; then sleep "$((NODE_INDEX * PAUSE))"; fi
retry become_member
