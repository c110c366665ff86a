#!/usr/bin/bash
# service.sh NAME: runs one of the node's services in a container, in place of this shell.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}@scripts@/library.sh"

NAME="$1"
KEPT="$ROOT/etc/jeroboam/mesos"
SERVICES="$ROOT/etc/jeroboam/services"
PREFIX="${IMAGE_PREFIX:+$IMAGE_PREFIX/}"

# image REPOSITORY TAG: the operator's registry has the images by the last part of their names.
image() {
    if [ -n "$PREFIX" ]; then
        echo "$PREFIX${1##*/}:$2"
    else
        echo "$1:$2"
    fi
}

run() {
    docker rm --force "$NAME" > /dev/null 2>&1 || true
    exec docker run --rm --name "$NAME" --network host --log-driver none "$@"
}

case "$NAME" in
    zookeeper)
        run --env-file "$SERVICES/zookeeper.env" --volume zookeeper-data:/data \
            --volume zookeeper-log:/datalog "$(image zookeeper "$ZOOKEEPER_TAG")"
        ;;
    mesos-master)
        run --env-file "$SERVICES/mesos-master.env" --volume mesos-master:/var/lib/mesos \
            --volume "$SERVICES:/services:ro" --volume "$KEPT:/mesos:ro" \
            "$(image mesosphere/mesos-master "$MESOS_TAG")"
        ;;
    marathon)
        run --env-file "$SERVICES/marathon.env" --volume "$KEPT:/mesos:ro" \
            "$(image mesosphere/marathon "$MARATHON_TAG")" \
            --mesos_authentication --mesos_authentication_principal marathon \
            --mesos_authentication_secret_file /mesos/secret
        ;;
    gate)
        run --user 0:0 --volume "$ROOT/etc/jeroboam/haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro" \
            --volume "$ROOT/etc/jeroboam/tls:/tls:ro" "$(image haproxy "$HAPROXY_TAG")"
        ;;
    mesos-agent)
        mkdir -p "$AGENT_WORK_DIR"
        # An agent starts containers beside its own one, so it needs what the host needs for that.
        run --privileged --pid host --env-file "$SERVICES/mesos-agent.env" \
            --volume "$AGENT_WORK_DIR:$AGENT_WORK_DIR:rshared" --volume "$KEPT:/mesos:ro" \
            --volume /sys:/sys --volume /var/run/docker.sock:/var/run/docker.sock \
            --volume @binaries@/docker:@binaries@/docker:ro \
            "$(image mesosphere/mesos-slave "$MESOS_TAG")"
        ;;
    *)
        say "there is no service '$NAME'"
        exit 2
        ;;
esac
