#!/bin/bash
# Unpacks Rust's library sources for the pinned toolchain as `library` in the folder $1.
#
# They come from the Debian package of the same version, pinned by name and checksum. The machine's
# own apt fetches it, but with separate lists and caches: the machine's settings are unchanged.
set -euo pipefail

package='rust-src=1.95.0+dfsg1-2~bpo13+1'
suite=trixie-backports
sum=7b76db5b880a77f9e52975d2baa6209d2f76d2c9c2789515c3088cb960e2c83b
inside=./usr/src/rustc-1.95.0/library
key=/usr/share/keyrings/debian-archive-keyring.gpg
home=$1
work=$home/apt

fail() {
    echo "rust-src.sh: $1" >&2
    exit 1
}

for tool in apt-get dpkg-deb sha256sum tar; do
    command -v "$tool" >/dev/null || fail "no $tool on this machine"
done
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
cd "$work"

# The mirror that the machine's apt uses.
words=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true)
mirror=
for word in $words; do
    case "${word%/}" in
        *snapshot*) ;;
        *://*/debian) mirror=$word && break ;;
    esac
done
[ -n "$mirror" ] || fail "apt has no Debian mirror"
echo "deb [signed-by=$key] $mirror $suite main" >sources.list

apt() {
    apt-get -qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root "$@"
}
apt update
apt download "$package"
echo "$sum  $(echo ./*.deb)" | sha256sum --check --quiet
dpkg-deb --fsys-tarfile ./*.deb >data.tar
tar -xf data.tar -C "$home" --strip-components=4 "$inside"
rm -r "$work"
