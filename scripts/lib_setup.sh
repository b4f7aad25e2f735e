# Shared by scripts here: installs what is missing, configures, builds, makes bare systems to try in.
# Sourced, not run. Expects `set -euo pipefail` and the repository root as working directory.

say() { printf '%s\n' "==> $*" >&2; }

# only_option OPTION [ARGUMENT...]: prints yes where the option is given, no where nothing is; any
# other argument ends the script.
only_option() {
  local option=$1 given=no argument
  shift
  for argument in "$@"; do
    if [ "$argument" != "$option" ]; then
      say "unknown option $argument; there is $option"
      return 2
    fi
    given=yes
  done
  echo "$given"
}

# Debian packages that the build needs.
required_packages=(
  build-essential cmake ninja-build pkg-config git
  libsimgrid-dev nlohmann-json3-dev libfmt-dev
  libboost-dev libboost-program-options-dev zlib1g-dev libpugixml-dev libsqlite3-dev
  libtomlplusplus-dev
  libjs-chart.js
)
# What only the tests need on top.
test_packages=(libgtest-dev libgmock-dev sqlite3 pyflakes3)
# The Python module; the build leaves it out where they are missing.
module_packages=(pybind11-dev python3-dev)
# Parts of the calibrator; the build leaves out what is not there.
calibrator_packages=(libopenmpi-dev openmpi-bin libopenblas-dev)

# What the readers are fuzzed with: clang before 16 does not take the ranges of libstdc++ 12.
fuzz_packages=(clang-19 libclang-rt-19-dev)
# What counts lines and branches.
coverage_packages=(gcovr)
# What looks at sources without running them.
tidy_packages=(clang-tidy-19)

# install_missing PACKAGE...: asks apt only for what dpkg does not know as installed.
install_missing() {
  local missing=() package
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "This is no Debian or Ubuntu. Install by hand what these packages hold, then run again with HEADWAY_SKIP_INSTALL=1:"
    printf '      %s\n' "$@" >&2
    [ "${HEADWAY_SKIP_INSTALL:-}" = 1 ] && return 0
    return 3
  fi
  [ "${HEADWAY_SKIP_INSTALL:-}" = 1 ] && return 0
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      say "These packages are missing, and neither root nor sudo is at hand: ${missing[*]}"
      return 3
    }
    as_root=(sudo)
  fi
  say "Installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# configure PRESET [OPTION...]
configure() {
  local preset=$1 log=build/configure.log
  say "Configuring ($preset)"
  mkdir -p build
  if ! cmake --preset "$@" >"$log" 2>&1; then
    cat "$log" >&2
    return 3
  fi
  grep -E '^-- (Headway|  )' "$log" >&2
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  say "Building ($preset); the first time takes a few minutes"
  cmake --build --preset "$preset" -- "$@" >&2
}

# make_bare_debian FOLDER: a Debian of this machine's release there, with nothing in it but apt, which
# reaches what this machine's apt reaches. Asks for root.
make_bare_debian() {
  local bare=$1 mirror release setting
  install_missing debootstrap
  read -r mirror release < <(apt-get indextargets --format '$(SITE) $(CODENAME)' "Created-By: Packages" | head -1)
  say "Making a bare Debian $release"
  debootstrap --variant=minbase "$release" "$bare" "$mirror" >build/debootstrap.log 2>&1 || {
    tail -5 build/debootstrap.log >&2
    return 3
  }
  for setting in /etc/apt/apt.conf.d /etc/apt/auth.conf.d /etc/ssl/certs /etc/resolv.conf; do
    [ -e "$setting" ] || continue
    mkdir -p "$bare$(dirname "$setting")"
    cp -RLn "$setting" "$bare$(dirname "$setting")/"
  done
  rm "$bare/etc/apt/sources.list" && cp -RL /etc/apt/sources.list* "$bare/etc/apt/"
  echo 'APT::Sandbox::User "root";' >"$bare/etc/apt/apt.conf.d/99-as-root"
}
