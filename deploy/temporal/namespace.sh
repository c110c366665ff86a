#!/bin/sh
# Creates Jeroboam's namespace, or brings its retention up to date. Jeroboam's worker registers the
# search attributes itself. The server is described by TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.
set -eu

ATTEMPTS=${ATTEMPTS:-60}
: "${TEMPORAL_ADDRESS:?}" "${TEMPORAL_NAMESPACE:?}" "${RETENTION:?}"

attempt=1
until temporal operator cluster health >/dev/null 2>&1; do
    if [ "$attempt" -ge "$ATTEMPTS" ]; then
        echo "Temporal at $TEMPORAL_ADDRESS is not healthy after $ATTEMPTS attempts." >&2
        exit 1
    fi
    attempt=$((attempt + 1))
    sleep 1
done

if temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
    temporal operator namespace update --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"
else
    temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"
fi
