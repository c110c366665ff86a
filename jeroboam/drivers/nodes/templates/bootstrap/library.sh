# shellcheck shell=bash
# What the other scripts share. They keep trying until they succeed, because a unit of systemd
# that failed once takes all units that require it down with it, even when it succeeds later.
set -euo pipefail

ROOT="${JEROBOAM_ROOT:-}"
PAUSE="${JEROBOAM_PAUSE:-10}"
STATE="$ROOT/var/lib/jeroboam"
BINARIES="$ROOT@binaries@"
PATH="$BINARIES:$PATH"

set -a
# shellcheck disable=SC1091
. "$ROOT/etc/jeroboam/cluster.env"
# shellcheck disable=SC1091
. "$ROOT/etc/jeroboam/node.env"
# shellcheck disable=SC1091
if [ -e "$ROOT/etc/jeroboam/proxy.env" ]; then . "$ROOT/etc/jeroboam/proxy.env"; fi
set +a
mkdir -p "$STATE"

say() {
    echo "jeroboam: $*" >&2
}

retry() {
    until "$@"; do
        say "'$*' did not succeed; next attempt in $PAUSE s"
        sleep "$PAUSE"
    done
}

# A value of the document with which Heat lets this node report. None of them holds a quote.
signal_value() {
    sed -E -n "s/.*\"$1\": *\"([^\"]*)\".*/\\1/p" "$ROOT/etc/jeroboam/signal.json"
}

post() {
    curl "$@" --silent --show-error --fail --connect-timeout 20 --max-time 60 --output /dev/null \
        --request POST --header 'Content-Type: application/json'
}

# Logs in as the user that Heat made for this node. A token that came along with the user data
# would have expired when the node is rebuilt some day.
signal_token() {
    local identity address
    identity="$(printf '"methods": ["password"], "password": {"user": {"id": "%s", "password": "%s"}}' \
        "$(signal_value user_id)" "$(signal_value password)")"
    address="$(signal_value auth_url)"
    address="${address%/}"
    printf '{"auth": {"identity": {%s}, "scope": {"project": {"id": "%s"}}}}' \
        "$identity" "$(signal_value project_id)" |
        post --data @- --dump-header - "${address%/v3}/v3/auth/tokens" |
        tr -d '\r' | sed -E -n 's/^x-subject-token: *//Ip'
}

# Tells Heat, or who reads the console, how this node fares. The arguments hold no quotes and no backslashes. The id of the
# boot tells a report after a rebuild from the one before it.
signal() {
    local token boot word report
    boot="$(cat /proc/sys/kernel/random/boot_id)"
    report="{\"status\": \"$1\", \"reason\": \"$2\", \"id\": \"$NODE_NAME\", \"data\": \"$boot\"}"
    # Engines other than Heat read the console, for which a node needs no user of the cloud.
    word="$(signal_value console)"
    if [ -n "$word" ]; then
        printf '%s %s\r\n' "$word" "$report" >"$ROOT/dev/console"
        return
    fi
    token="$(signal_token)" || return 1
    printf 'header = "X-Auth-Token: %s"\n' "$token" |
        post --config - "$(signal_value alarm_url)" --data "$report"
}

# Ends the set-up of this node for a reason that time will not heal.
give_up() {
    say "$1"
    retry signal FAILURE "$NODE_NAME: $1"
    exit 1
}

download() {
    curl --fail --silent --show-error --location --connect-timeout 20 --max-time 900 \
        --output "$2.part" "$1" && mv "$2.part" "$2"
}

matches() {
    echo "$1  $2" | sha256sum --check --status -
}

# download_verified URL FILE SUFFIX [SHA256]: without a checksum, the one published beside it.
download_verified() {
    local expected="${4:-}"
    if [ -z "$expected" ]; then
        download "$1$3" "$2$3" || return 1
        expected="$(cut -d ' ' -f 1 "$2$3")"
    fi
    if [ -e "$2" ] && matches "$expected" "$2"; then return 0; fi
    download "$1" "$2" || return 1
    if matches "$expected" "$2"; then return 0; fi
    say "the checksum of $1 is not $expected"
    rm -f "$2"
    return 1
}
