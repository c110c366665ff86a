#!/usr/bin/bash
# Installs what the cluster was ordered with beside its pod network; a matter of the first master.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}@scripts@/library.sh"

DONE="$STATE/addons"
MANIFEST="$STATE/addon.yaml"

adapt_images() {
    if [ -z "$IMAGE_PREFIX" ]; then return 0; fi
    sed -E -i "s#(image: *)\"?[^ \"]*/([^/ \"]+)\"?#\\1$IMAGE_PREFIX/\\2#" "$MANIFEST"
}

# kubeadm lets each kubelet sign its own certificate, which metrics-server would not believe.
trust_kubelets() {
    sed -E -i 's#^( *)- --metric-resolution=.*#&\n\1- --kubelet-insecure-tls#' "$MANIFEST"
}

apply() {
    kubectl --kubeconfig "$ROOT/etc/kubernetes/admin.conf" apply --server-side -f "$MANIFEST"
}

# install_addon URL [ADAPTION]
install_addon() {
    retry download "$1" "$MANIFEST"
    "${2:-true}"
    adapt_images
    retry apply
}

if [ "$NODE_INDEX" != 0 ] || [ -e "$DONE" ]; then exit 0; fi
if [ -n "$METRICS_SERVER_URL" ]; then install_addon "$METRICS_SERVER_URL" trust_kubelets; fi
for url in $ADDON_URLS; do install_addon "$url"; done
rm -f "$MANIFEST"
touch "$DONE"
