#!/usr/bin/bash
# Gives the cluster its pod network; a matter of the first master.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}@scripts@/library.sh"

DONE="$STATE/network"
MANIFEST="$STATE/$NETWORK_DRIVER.yaml"

fetch() {
    if [ -n "$NETWORK_MANIFEST_SHA256" ]; then
        download_verified "$NETWORK_MANIFEST_URL" "$MANIFEST" "" "$NETWORK_MANIFEST_SHA256"
    else
        download "$NETWORK_MANIFEST_URL" "$MANIFEST"
    fi
}

adapt_flannel() {
    sed -E -i \
        -e "s#\"Network\": *\"[^\"]*\"#\"Network\": \"$POD_NETWORK\", \"SubnetLen\": $FLANNEL_SUBNET_LENGTH#" \
        -e "s#\"Type\": *\"vxlan\"#\"Type\": \"$FLANNEL_BACKEND\"#" "$MANIFEST"
}

# The pool's line is a comment in Calico's manifest; /usr is read-only on Fedora CoreOS.
adapt_calico() {
    sed -E -i \
        -e '/# - name: CALICO_IPV4POOL_CIDR/{s/# - /- /;n;s/# //;s#"[^"]*"#"'"$POD_NETWORK"'"#}' \
        -e '/name: CALICO_IPV4POOL_IPIP/{n;s#"[^"]*"#"'"$CALICO_IPIP"'"#}' \
        -e 's#/usr/libexec/kubernetes#/opt/libexec/kubernetes#' "$MANIFEST"
}

adapt_images() {
    if [ -z "$IMAGE_PREFIX" ]; then return 0; fi
    sed -E -i "s#(image: *)\"?[^ \"]*/([^/ \"]+)\"?#\\1$IMAGE_PREFIX/\\2#" "$MANIFEST"
}

apply() {
    kubectl --kubeconfig "$ROOT/etc/kubernetes/admin.conf" apply --server-side -f "$MANIFEST"
}

if [ "$NODE_INDEX" != 0 ] || [ -e "$DONE" ]; then exit 0; fi
retry fetch
"adapt_$NETWORK_DRIVER"
adapt_images
retry apply
touch "$DONE"
