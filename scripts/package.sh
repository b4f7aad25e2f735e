#!/usr/bin/env bash
# Makes the Debian package and the tarball of the simulator, in build/release. Safe to repeat.
#   --prove   installs the package in a bare Debian and times its first answer there: asks for root,
#             and for debootstrap, which it installs
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib_setup.sh

prove=$(only_option --prove "$@")

install_missing "${required_packages[@]}" dpkg-dev
configure release
build release all
(cd build/release && cpack >&2)
package=$(ls -t build/release/headway_*.deb | head -1)
archive=$(ls -t build/release/headway-*.tar.gz | head -1)
printf '%s\n' "$package" "$archive"
[ "$prove" = yes ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  say "--prove asks for root: it makes a system of its own to install the package in"
  exit 3
fi
install_missing debootstrap
# The release and the mirror of this machine: the package depends on its libraries.
read -r mirror release < <(apt-get indextargets --format '$(SITE) $(CODENAME)' "Created-By: Packages" | head -1)
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
say "Making a bare Debian $release"
debootstrap --variant=minbase "$release" "$bare" "$mirror" >build/debootstrap.log 2>&1 || {
  tail -5 build/debootstrap.log >&2
  exit 3
}
# As this machine reaches its mirror.
for setting in /etc/apt/apt.conf.d /etc/apt/auth.conf.d /etc/ssl/certs /etc/resolv.conf; do
  [ -e "$setting" ] || continue
  mkdir -p "$bare$(dirname "$setting")"
  cp -RLn "$setting" "$bare$(dirname "$setting")/"
done
rm "$bare/etc/apt/sources.list" && cp -RL /etc/apt/sources.list* "$bare/etc/apt/"
mount -t proc proc "$bare/proc" && trap 'umount "$bare/proc"; rm -rf "$bare"' EXIT
cp "$package" "$bare/headway.deb"
say "Installing the package there, and asking it something"
start=$(date +%s)
chroot "$bare" sh -c 'apt-get update -qq -o APT::Sandbox::User=root && apt-get install -y -qq --no-install-recommends /headway.deb >/dev/null 2>&1'
chroot "$bare" headway simulate llama3_405b_16384
say "From the package to the first answer: $(($(date +%s) - start)) s"
