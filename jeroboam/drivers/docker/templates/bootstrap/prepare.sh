#!/usr/bin/bash
# Installs Docker and, where this node has the authority's key, makes the node's certificate.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}@scripts@/library.sh"

CACHE="$STATE/downloads"
INSTALLED="$STATE/docker-version"
AUTHORITY="$ROOT/etc/jeroboam/pki"
TLS="$ROOT/etc/jeroboam/tls"
DAYS=1825

case "$(uname -m)" in
    x86_64 | aarch64) ARCH="$(uname -m)" ;;
    *) give_up "no Docker for the architecture $(uname -m)" ;;
esac

# Docker publishes no checksum beside its archives: without one, TLS alone protects the download.
fetch() {
    if [ -n "$DOCKER_SHA256" ]; then
        download_verified "$1" "$2" "" "$DOCKER_SHA256"
    else
        download "$1" "$2"
    fi
}

install_docker() {
    local archive="docker-$DOCKER_VERSION.tgz"
    mkdir -p "$CACHE" "$BINARIES"
    fetch "$DOCKER_URL/$ARCH/$archive" "$CACHE/$archive" &&
        tar --extract --gzip --file "$CACHE/$archive" --directory "$BINARIES" --strip-components=1 \
            --no-same-owner &&
        rm -rf "$CACHE" &&
        echo "$DOCKER_VERSION" > "$INSTALLED"
}

# Every address by which somebody may call this node.
names() {
    printf 'DNS:%s,DNS:localhost' "$NODE_NAME"
    printf '%s\n' "$NODE_ADDRESS" "$PUBLIC_ADDRESS" "$API_ADDRESS" "$API_PUBLIC_ADDRESS" 127.0.0.1 |
        sort --unique | sed 's/^/,IP:/' | tr -d '\n'
}

# sign FOLDER: makes a key, and a certificate with the extensions that lie beside it.
sign() {
    openssl ecparam -name prime256v1 -genkey -noout -out "$1/server.key" &&
        openssl req -new -sha256 -key "$1/server.key" -subj "/CN=$NODE_NAME" -out "$1/request" &&
        openssl x509 -req -sha256 -in "$1/request" -days "$DAYS" -extfile "$1/extensions" \
            -CA "$AUTHORITY/ca.crt" -CAkey "$AUTHORITY/ca.key" \
            -set_serial "0x00$(openssl rand -hex 16)" -out "$1/server.crt"
}

# The same certificate serves when this node answers and when it asks another one of its kind.
make_certificate() {
    local new
    new="$(mktemp --directory "$STATE/tls.XXXXXX")" || return 1
    {
        echo "basicConstraints = critical, CA:false"
        echo "keyUsage = critical, digitalSignature"
        echo "extendedKeyUsage = serverAuth, clientAuth"
        echo "subjectAltName = $(names)"
    } > "$new/extensions"
    if ! sign "$new" 2> "$new/log"; then
        say "$(cat "$new/log")"
        rm -rf "$new"
        return 1
    fi
    cat "$new/server.crt" "$new/server.key" > "$new/server.pem"
    cp "$AUTHORITY/ca.crt" "$new/ca.crt"
    mkdir -p "$TLS" && chmod 0700 "$TLS" && mv "$new"/ca.crt "$new"/server.* "$TLS/" &&
        chmod 0600 "$TLS"/* && rm -rf "$new"
}

umask 077
if [ "$(cat "$INSTALLED" 2>/dev/null)" != "$DOCKER_VERSION" ]; then
    (umask 022 && retry install_docker)
    if command -v restorecon >/dev/null; then restorecon -R "$BINARIES"; fi
fi
if [ -e "$AUTHORITY/ca.key" ]; then retry make_certificate; fi
