#!/usr/bin/bash
# Makes the node a part of the cluster: the first master founds it, all others join.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}/usr/local/lib/jeroboam/library.sh"

DONE="$STATE/member"
KEPT="$ROOT/etc/jeroboam/pki"
PKI="$ROOT/etc/kubernetes/pki"

# Masters make their certificates from the same authorities. kubeadm reset empties its folder.
lay_out_certificates() {
    if [ ! -d "$KEPT" ]; then return 0; fi
    mkdir -p "$PKI" && cp -R "$KEPT/." "$PKI/" && chmod -R go-rwx "$PKI"
}

api_answers() {
    # Nothing secret is sent, and kubeadm checks the authority's key by itself.
    curl --insecure --silent --fail --noproxy '*' --connect-timeout 5 --max-time 10 \
        --output /dev/null "https://$API_ADDRESS:$API_PORT/readyz"
}

found() {
    kubeadm init --config "$ROOT/etc/jeroboam/kubeadm-init.yaml"
}

join() {
    retry api_answers
    kubeadm join --config "$ROOT/etc/jeroboam/kubeadm-join.yaml"
}

is_founder() {
    [ -e "$ROOT/etc/jeroboam/kubeadm-init.yaml" ] && [ "$NODE_INDEX" = 0 ]
}

become_member() {
    lay_out_certificates || return 1
    local step=join
    if is_founder; then step=found; fi
    if "$step"; then return 0; fi
    kubeadm reset --force --cri-socket unix:///run/containerd/containerd.sock || true
    return 1
}

if [ -e "$DONE" ]; then exit 0; fi
# Only one member at a time can be added to etcd.
if [ -d "$KEPT" ] && ! is_founder; then sleep "$((NODE_INDEX * PAUSE))"; fi
retry become_member
touch "$DONE"
