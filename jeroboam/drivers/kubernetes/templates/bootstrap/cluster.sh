#!/usr/bin/bash
# Makes the node a part of the cluster: the first master founds it, all others join.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}@scripts@/library.sh"

DONE="$STATE/member"
KEPT="$ROOT/etc/jeroboam/pki"
PKI="$ROOT/etc/kubernetes/pki"
INIT="$ROOT/etc/jeroboam/kubeadm-init.yaml"
ETCD="$ROOT/var/lib/etcd"
ADMIN="$STATE/admin"
QUESTIONS=3
STEP="join"

# Masters make their certificates from the same authorities. kubeadm reset empties its folder.
lay_out_certificates() {
    if [ ! -d "$KEPT" ]; then return 0; fi
    mkdir -p "$PKI" && cp -R "$KEPT/." "$PKI/" && chmod -R go-rwx "$PKI"
}

# api_answers OPTION...: whether somebody behind the cluster's address says that all is well.
api_answers() {
    curl "$@" --silent --fail --noproxy '*' --connect-timeout 5 --max-time 10 \
        --output /dev/null "https://$API_ADDRESS:$API_PORT/readyz"
}

is_founder() {
    [ -e "$INIT" ] && [ "$NODE_INDEX" = 0 ]
}

# A first master that is set up anew finds its cluster alive, where a load balancer leads to the
# other masters. Whoever answers must have a certificate of this cluster. The question is repeated
# because a load balancer may not have noticed yet that this node was away.
cluster_lives() {
    if [ "$API_ADDRESS" = "$NODE_ADDRESS" ]; then return 1; fi
    local question
    for question in $(seq "$QUESTIONS"); do
        if api_answers --cacert "$KEPT/ca.crt"; then return 0; fi
        say "no other master answers ($question of $QUESTIONS)"
        sleep "$PAUSE"
    done
    return 1
}

# etcd's volume outlives its server: the only master takes up the cluster that is on it.
found() {
    local options=()
    if [ -n "$KNOWN" ]; then
        options=(--ignore-preflight-errors=DirAvailable--var-lib-etcd)
    fi
    kubeadm init --config "$INIT" "${options[@]}"
}

administer() {
    timeout 120 kubectl --kubeconfig "$ADMIN/admin.conf" "$@"
}

# member_of POD ARGUMENT...: asks the etcd of another master about members.
member_of() {
    administer --namespace kube-system exec "$1" -- etcdctl --endpoints https://127.0.0.1:2379 \
        --cacert /etc/kubernetes/pki/etcd/ca.crt --cert /etc/kubernetes/pki/etcd/server.crt \
        --key /etc/kubernetes/pki/etcd/server.key member "${@:2}"
}

# forget_member POD: removes the member that this node was before it was set up anew.
forget_member() {
    local members member
    members="$(member_of "$1" list)" || return 1
    member="$(echo "$members" | grep -F ", https://$NODE_ADDRESS:2380," | cut -d , -f 1 || true)"
    if [ -n "$member" ]; then member_of "$1" remove "$member"; fi
}

forget_me() {
    local pods pod
    pods="$(administer --namespace kube-system get pods --selector component=etcd --output name)" ||
        return 1
    for pod in $pods; do
        if [ "${pod##*/}" = "etcd-$NODE_NAME" ]; then continue; fi
        if forget_member "$pod"; then return 0; fi
    done
    return 1
}

authorities() {
    base64 --wrap 0 "$KEPT/ca.crt"
}

# trust_all FILE: while authorities are rotated there are two, and kubeadm writes down the one that
# signs. The other masters may still have certificates of the other one.
trust_all() {
    if [ ! -e "$1" ]; then return 0; fi
    sed -i "s|certificate-authority-data:.*|certificate-authority-data: $(authorities)|" "$1"
}

# Nodes that join learn from a document in the cluster whom to trust.
publish_authorities() {
    local admin="$ROOT/etc/kubernetes/admin.conf" known="$STATE/cluster-info" options
    if [ ! -e "$admin" ]; then return 0; fi
    options=(--kubeconfig "$admin" --namespace kube-public)
    kubectl "${options[@]}" get configmap cluster-info --output 'jsonpath={.data.kubeconfig}' \
        > "$known" || return 1
    if grep -qF "certificate-authority-data: $(authorities)" "$known"; then return 0; fi
    trust_all "$known"
    kubectl "${options[@]}" create configmap cluster-info --from-file="kubeconfig=$known" \
        --dry-run=client --output yaml | kubectl "${options[@]}" replace --filename -
}

# What a master does before it joins: the cluster learns the version that this node brings along,
# and forgets what it knew of the node.
make_room() {
    rm -rf "$ADMIN"
    kubeadm init phase kubeconfig admin --config "$INIT" --kubeconfig-dir "$ADMIN" &&
        trust_all "$ADMIN/admin.conf" &&
        kubeadm init phase upload-config all --config "$INIT" --kubeconfig "$ADMIN/admin.conf" &&
        forget_me &&
        administer delete node "$NODE_NAME" --ignore-not-found &&
        rm -rf "$ETCD/member"
}

join() {
    retry api_answers --insecure
    if [ -d "$KEPT" ]; then make_room || return 1; fi
    kubeadm join --config "$ROOT/etc/jeroboam/kubeadm-join.yaml"
}

undo() {
    local options=()
    # Without its phase for etcd, the data of a cluster that was there before are kept.
    if [ "$STEP" = found ] && [ -n "$KNOWN" ]; then options=(--skip-phases=remove-etcd-member); fi
    kubeadm reset --force --cri-socket unix:///run/containerd/containerd.sock "${options[@]}" || true
}

become_member() {
    lay_out_certificates || return 1
    STEP="join"
    if is_founder && ! cluster_lives; then STEP="found"; fi
    if "$STEP"; then return 0; fi
    undo
    return 1
}

# What kubeadm init sets up beside the control plane follows the version of the first master.
renew_addons() {
    kubeadm init phase addon all --config "$INIT" --kubeconfig "$ROOT/etc/kubernetes/admin.conf"
}

if [ -e "$DONE" ]; then exit 0; fi
KNOWN=""
if [ -d "$ETCD/member" ]; then KNOWN=yes; fi
# Only one member at a time can be added to etcd.
if [ -d "$KEPT" ] && ! is_founder; then sleep "$((NODE_INDEX * PAUSE))"; fi
retry become_member
if [ -d "$KEPT" ]; then
    trust_all "$ROOT/etc/kubernetes/admin.conf"
    retry publish_authorities
fi
if is_founder && [ "$STEP" = join ]; then retry renew_addons; fi
rm -rf "$ADMIN"
touch "$DONE"
