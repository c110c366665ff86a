#!/usr/bin/bash
# Reports to Heat once the cluster counts the node as ready.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}@scripts@/library.sh"

DONE="$STATE/reported"

# A node may read itself with its own credentials.
is_ready() {
    local condition
    condition="$(kubectl --kubeconfig "$ROOT/etc/kubernetes/kubelet.conf" get node "$NODE_NAME" \
        --output 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" || return 1
    [ "$condition" = True ]
}

if [ -e "$DONE" ]; then exit 0; fi
retry is_ready
retry signal SUCCESS "$NODE_NAME is ready"
touch "$DONE"
