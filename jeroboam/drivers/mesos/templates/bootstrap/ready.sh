#!/usr/bin/bash
# Reports to Heat once the services of this node do their work.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}@scripts@/library.sh"

DONE="$STATE/reported"
TLS="$ROOT/etc/jeroboam/tls"

ask() {
    curl "$@" --silent --fail --noproxy '*' --connect-timeout 5 --max-time 10
}

# Through the gate, as the users come. A master of Mesos is healthy when its log has a quorum and
# Marathon answers when it knows who leads.
is_master_ready() {
    local gate="https://$NODE_ADDRESS:$API_PORT"
    local identity=(--cacert "$TLS/ca.crt" --cert "$TLS/server.crt" --key "$TLS/server.key")
    ask "${identity[@]}" --output /dev/null "$gate/mesos/health" &&
        ask "${identity[@]}" --output /dev/null "$gate/ping" &&
        ask "${identity[@]}" --output /dev/null "$gate/v2/leader"
}

is_agent_ready() {
    ask "http://$NODE_ADDRESS:5051/metrics/snapshot" | grep -E -q '"slave\\?/registered": *1(\.0)?[,}]'
}

is_ready() {
    if [ -e "$ROOT/etc/jeroboam/mesos/secret" ]; then is_master_ready; else is_agent_ready; fi
}

if [ -e "$DONE" ]; then exit 0; fi
retry is_ready
retry signal SUCCESS "$NODE_NAME is ready"
touch "$DONE"
