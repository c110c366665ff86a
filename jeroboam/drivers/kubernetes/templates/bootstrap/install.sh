#!/usr/bin/bash
# Installs Kubernetes' binaries, and the container runtime where the system has none.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}@scripts@/library.sh"

PLUGINS="$ROOT/opt/cni/bin"
CACHE="$STATE/downloads"

case "$(uname -m)" in
    x86_64) ARCH=amd64 ;;
    aarch64) ARCH=arm64 ;;
    *) give_up "no Kubernetes for the architecture $(uname -m)" ;;
esac

kubernetes_binary() {
    download_verified "$KUBE_BINARIES_URL/$KUBE_TAG/bin/linux/$ARCH/$1" "$CACHE/$1" .sha256 &&
        install -m 0755 "$CACHE/$1" "$BINARIES/$1"
}

crictl() {
    local archive="crictl-$CRICTL_TAG-linux-$ARCH.tar.gz"
    download_verified "$CRICTL_URL/$CRICTL_TAG/$archive" "$CACHE/$archive" .sha256 &&
        tar -xzf "$CACHE/$archive" -C "$BINARIES"
}

network_plugins() {
    local archive="cni-plugins-linux-$ARCH-$CNI_PLUGINS_TAG.tgz"
    download_verified "$CNI_PLUGINS_URL/$CNI_PLUGINS_TAG/$archive" "$CACHE/$archive" .sha256 &&
        tar -xzf "$CACHE/$archive" -C "$PLUGINS"
}

containerd() {
    local archive="$CACHE/containerd.tar.gz"
    local released="$CONTAINERD_URL/v$CONTAINERD_VERSION/containerd-$CONTAINERD_VERSION-linux-$ARCH.tar.gz"
    download_verified "${CONTAINERD_TARBALL_URL:-$released}" "$archive" .sha256sum "$CONTAINERD_SHA256" &&
        tar -xzf "$archive" -C "${BINARIES%/bin}"
}

# The checksums of all architectures are published in one file.
runc() {
    local expected="$RUNC_SHA256" sums="$CACHE/runc.sha256sum"
    if [ -z "$expected" ]; then
        download "$RUNC_URL/$RUNC_VERSION/runc.sha256sum" "$sums" || return 1
        expected="$(sed -E -n "s/^([0-9a-f]{64}) +\\*?runc\\.$ARCH\$/\\1/p" "$sums")"
    fi
    if [ -z "$expected" ]; then
        say "there is no checksum of runc for $ARCH"
        return 1
    fi
    download_verified "$RUNC_URL/$RUNC_VERSION/runc.$ARCH" "$CACHE/runc" "" "$expected" &&
        install -m 0755 "$CACHE/runc" "$BINARIES/runc"
}

# For this boot; where the kernel was told already, nothing changes.
relax_selinux() {
    case "$SELINUX_MODE" in
        permissive | disabled) setenforce 0 || say "SELinux is off already" ;;
    esac
}

if command -v setenforce >/dev/null; then relax_selinux; fi
mkdir -p "$BINARIES" "$PLUGINS" "$CACHE"
for binary in kubeadm kubelet kubectl; do retry kubernetes_binary "$binary"; done
retry crictl
retry network_plugins
if [ -n "$CONTAINERD_VERSION$CONTAINERD_TARBALL_URL" ]; then
    retry containerd
elif ! type -P containerd >/dev/null; then
    give_up "the image has no containerd; set the label containerd_version"
fi
if [ -n "$RUNC_VERSION" ]; then retry runc; fi
rm -rf "$CACHE"
if command -v restorecon >/dev/null; then restorecon -R "$BINARIES" "$PLUGINS"; fi
