#!/usr/bin/bash
# Puts a file system on each volume that the node got, once, and mounts it.
# shellcheck source-path=SCRIPTDIR source=library.sh
. "${JEROBOAM_ROOT:-}@scripts@/library.sh"

# Nova names a disk after the first 20 characters of the volume's id (virtio) or all of it (SCSI).
device_of() {
    local candidate
    for candidate in "virtio-${1:0:20}" "scsi-0QEMU_QEMU_HARDDISK_$1" "scsi-SQEMU_QEMU_HARDDISK_$1"; do
        if [ -e "$ROOT/dev/disk/by-id/$candidate" ]; then
            readlink -f "$ROOT/dev/disk/by-id/$candidate"
            return 0
        fi
    done
    return 1
}

use() {
    local device
    device="$(device_of "$1")" || return 1
    if [ -z "$(blkid -o value -s TYPE "$device")" ]; then
        mkfs.xfs -q "$device" || return 1
    fi
    mkdir -p "$2"
    mountpoint -q "$2" && return 0
    mount "$device" "$2" || return 1
    if command -v restorecon >/dev/null; then restorecon -R "$2"; fi
}

if [ -n "$ETCD_VOLUME" ]; then retry use "$ETCD_VOLUME" "$ROOT$DATA_DIRECTORY"; fi
if [ -n "$STORAGE_VOLUME" ]; then retry use "$STORAGE_VOLUME" "$ROOT$STORAGE_DIRECTORY"; fi
