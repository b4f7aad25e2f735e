#!/usr/bin/env bash
# Makes the Debian package and the tarball of the simulator, in build/package, with what makes a
# container image of the package there. Safe to repeat.
#   --prove   installs the package in a bare Debian as the image does, and times its first answer
#             there: asks for root, and for debootstrap, which it installs
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib_setup.sh

prove=$(only_option --prove "$@")

install_missing "${required_packages[@]}" dpkg-dev
configure release
build release headway headway_completion
(cd build/release && cpack >&2)
rm -rf build/package && mkdir build/package
cp "$(ls -t build/release/headway_*.deb | head -1)" "$(ls -t build/release/headway-*.tar.gz | head -1)" \
  scripts/Containerfile build/package
package=$(echo build/package/headway_*.deb)
printf '%s\n' "$package" build/package/headway-*.tar.gz
[ "$prove" = yes ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  say "--prove asks for root: it makes a system of its own to install the package in"
  exit 3
fi
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
make_bare_debian "$bare" || {
  say "No bare Debian can be made here: the package was not tried"
  exit 3
}
mount -t proc proc "$bare/proc" && trap 'umount "$bare/proc"; rm -rf "$bare"' EXIT
# What the image is made with, to the letter.
read -r copied < <(sed -n 's/^COPY headway_\*\.deb //p' scripts/Containerfile)
install=$(sed -n 's/^RUN //p' scripts/Containerfile)
program=$(sed -n 's/^ENTRYPOINT \["\(.*\)"\]$/\1/p' scripts/Containerfile)
cp "$package" "$bare$copied"
say "Installing the package there, and asking it something"
start=$(date +%s)
chroot "$bare" sh -c "$install" >build/install.log 2>&1 || {
  tail -5 build/install.log >&2
  exit 3
}
chroot "$bare" "$program" simulate llama3_405b_16384
say "From the package to the first answer: $(($(date +%s) - start)) s"
