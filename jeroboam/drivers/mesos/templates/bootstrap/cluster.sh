#!/usr/bin/bash
# Writes what the node's services are started with, as far as only the running node knows it.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}@scripts@/library.sh"

KEPT="$ROOT/etc/jeroboam/mesos"
SERVICES="$ROOT/etc/jeroboam/services"
QUORUM_PORT=2888
ELECTION_PORT=3888
ZOOKEEPER_PORT=2181

MASTERS=()
IFS=, read -r -a MASTERS <<< "$MASTER_ADDRESSES"

# Each master of ZooKeeper's ensemble, as "a:2181,b:2181,c:2181".
ensemble() {
    printf '%s\n' "${MASTERS[@]}" | sed "s/\$/:$ZOOKEEPER_PORT/" | paste -s -d , -
}

# ZooKeeper's own list of its members: numbered from 1, in the order of the masters' indexes.
members() {
    local number=0 address
    for address in "${MASTERS[@]}"; do
        number="$((number + 1))"
        printf 'server.%s=%s:%s:%s;%s\n' \
            "$number" "$address" "$QUORUM_PORT" "$ELECTION_PORT" "$ZOOKEEPER_PORT"
    done | paste -s -d ' ' -
}

write_zookeeper() {
    {
        echo "ZOO_MY_ID=$((NODE_INDEX + 1))"
        echo "ZOO_SERVERS=$(members)"
        # Its web page would take the port of Marathon.
        echo "ZOO_ADMINSERVER_ENABLED=false"
        echo "ZOO_4LW_COMMANDS_WHITELIST=srvr"
        echo "ZOO_AUTOPURGE_PURGEINTERVAL=24"
    } > "$SERVICES/zookeeper.env"
}

write_master() {
    printf 'zk://mesos:%s@%s/mesos' "$(cat "$KEPT/secret")" "$(ensemble)" > "$SERVICES/zk"
    {
        echo "MESOS_ZK=file:///services/zk"
        echo "MESOS_QUORUM=$QUORUM"
        echo "MESOS_CLUSTER=$CLUSTER_NAME"
        echo "MESOS_IP=$NODE_ADDRESS"
        echo "MESOS_HOSTNAME=$NODE_ADDRESS"
        echo "MESOS_WORK_DIR=/var/lib/mesos"
        echo "MESOS_AUTHENTICATE_AGENTS=true"
        echo "MESOS_AUTHENTICATE_FRAMEWORKS=true"
        echo "MESOS_CREDENTIALS=file:///mesos/credentials.json"
        echo "MESOS_ACLS=file:///mesos/acls.json"
    } > "$SERVICES/mesos-master.env"
}

write_marathon() {
    {
        echo "MARATHON_MASTER=$(cat "$SERVICES/zk")"
        echo "MARATHON_ZK=$(sed 's#/mesos$#/marathon#' "$SERVICES/zk")"
        echo "MARATHON_HOSTNAME=$NODE_ADDRESS"
        echo "MARATHON_HTTP_ADDRESS=$NODE_ADDRESS"
        echo "MARATHON_HTTP_PORT=8080"
        # The master speaks to Marathon at a port that the security group knows.
        echo "LIBPROCESS_IP=$NODE_ADDRESS"
        echo "LIBPROCESS_PORT=8081"
    } > "$SERVICES/marathon.env"
}

write_agent() {
    {
        echo "MESOS_MASTER=zk://$(ensemble)/mesos"
        echo "MESOS_IP=$NODE_ADDRESS"
        echo "MESOS_HOSTNAME=$NODE_ADDRESS"
        echo "MESOS_CREDENTIAL=file:///mesos/credential.json"
        cat "$KEPT/agent.env"
    } > "$SERVICES/mesos-agent.env"
}

umask 077
mkdir -p "$SERVICES"
if [ "${#MASTERS[@]}" != "$MASTER_COUNT" ]; then
    give_up "the cluster has $MASTER_COUNT masters, but the addresses of ${#MASTERS[@]}"
fi
if [ -e "$KEPT/secret" ]; then
    write_zookeeper
    write_master
    write_marathon
else
    write_agent
fi
