#!/bin/sh
# Creates Jeroboam's namespace, or brings its retention up to date. Jeroboam's worker registers the
# search attributes itself. The server is described by TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.
set -eu

ATTEMPTS=${ATTEMPTS:-60}
: "${TEMPORAL_ADDRESS:?}" "${TEMPORAL_NAMESPACE:?}" "${RETENTION:?}"

namespace() {
    temporal operator namespace "$@" --namespace "$TEMPORAL_NAMESPACE"
}

settle() {
    temporal operator cluster health || return
    if namespace describe; then
        namespace update --retention "$RETENTION"
    else
        namespace create --retention "$RETENTION"
    fi
}

# A server that has only started, or a namespace that has only been made, is not known everywhere.
attempt=1
until report=$(settle 2>&1); do
    if [ "$attempt" -ge "$ATTEMPTS" ]; then
        echo "Namespace $TEMPORAL_NAMESPACE at $TEMPORAL_ADDRESS: $report" >&2
        exit 1
    fi
    attempt=$((attempt + 1))
    sleep 1
done
echo "Namespace $TEMPORAL_NAMESPACE keeps the history of ended operations for $RETENTION."
