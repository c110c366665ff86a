#!/usr/bin/bash
# Installs the programs that call the cluster's cloud, and the account with which they log in; a
# matter of the first master.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}@scripts@/library.sh"
# shellcheck disable=SC1091
. "$ROOT/etc/jeroboam/cloud.env"

DONE="$STATE/cloud"
MANIFEST="$STATE/cloud.yaml"
CERTIFICATES="/etc/pki/ca-trust/extracted/pem"

administer() {
    kubectl --kubeconfig "$ROOT/etc/kubernetes/admin.conf" --namespace kube-system "$@"
}

# create_once OBJECT ARGUMENT...: what is there stays. The account may have been replaced since this
# node's files were written, and a storage class cannot be changed.
create_once() {
    local found
    found="$(administer get "$1" --ignore-not-found --output name)" || return 1
    if [ -n "$found" ]; then return 0; fi
    administer create "${@:2}"
}

# Load balancers and volumes are marked with it. On Fedora, /etc/ssl/certs holds nothing but links
# to where the certificates are, which lead nowhere in a container.
adapt() {
    sed -E -i "/name: CLUSTER_NAME/{n;s#value: .*#value: \"$CLUSTER_ID\"#}" "$MANIFEST"
    if [ -d "$ROOT$CERTIFICATES" ]; then
        sed -E -i "s#^( *path:) /etc/ssl/certs\$#\\1 $CERTIFICATES#" "$MANIFEST"
    fi
    if [ -n "$IMAGE_PREFIX" ]; then
        sed -E -i "s#(image: *)\"?[^ \"]*/([^/ \"]+)\"?#\\1$IMAGE_PREFIX/\\2#" "$MANIFEST"
    fi
}

# Changes of others must not keep a first master waiting that is set up anew.
apply() {
    administer apply --server-side --force-conflicts --filename "$MANIFEST"
}

# install_from FOLDER FILE...
install_from() {
    local file
    for file in "${@:2}"; do
        retry download "$1/$file.yaml" "$MANIFEST"
        adapt
        retry apply
    done
}

if [ "$NODE_INDEX" != 0 ] || [ -e "$DONE" ]; then exit 0; fi
retry create_once secret/cloud-config secret generic cloud-config \
    --from-file="cloud.conf=$ROOT/etc/jeroboam/cloud.conf"
if [ -n "$CLOUD_PROVIDER_URL" ]; then
    install_from "$CLOUD_PROVIDER_URL" cloud-controller-manager-roles \
        cloud-controller-manager-role-bindings openstack-cloud-controller-manager-ds
fi
if [ -n "$CINDER_CSI_URL" ]; then
    install_from "$CINDER_CSI_URL" csi-cinder-driver cinder-csi-controllerplugin-rbac \
        cinder-csi-controllerplugin cinder-csi-nodeplugin-rbac cinder-csi-nodeplugin
    retry create_once storageclass/cinder --filename "$ROOT/etc/jeroboam/storage-class.yaml"
fi
rm -f "$MANIFEST"
touch "$DONE"
