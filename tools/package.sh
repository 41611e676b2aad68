#!/usr/bin/env bash
# The installed prefix as a Debian package and as a tar, in dist/: `./dev package`. From the build in build/release.
#
# Everything lies in /opt/deuteron, since it brings libraries that Debian has too (mimalloc) and must not hide; /usr/bin has links to
# the two commands. What it needs of Debian is asked of the programs themselves.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/^project(deuteron VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
architecture=$(dpkg --print-architecture)
readonly STAGE=$PWD/build/package NAME=deuteron_${version}_${architecture}

rm -rf "$STAGE"
cmake --install build/release --prefix "$STAGE/opt/deuteron" --strip >/dev/null
# Not ours, and not stripped by its maker.
find "$STAGE/opt/deuteron/lib" -name '*.so*' -type f -exec strip --strip-unneeded {} +
mkdir -p "$STAGE/usr/bin" "$STAGE/DEBIAN" "$STAGE/usr/share/doc/deuteron"
ln -s ../../opt/deuteron/bin/deuteron ../../opt/deuteron/bin/deuteron-run "$STAGE/usr/bin"
cp LICENSE "$STAGE/usr/share/doc/deuteron/copyright"

# The packages of the libraries that something in the prefix needs and the prefix does not have. CUDA's are for those who have it.
needed=$(find "$STAGE/opt/deuteron" -type f \( -name '*.so*' -o -path '*/bin/*' \) ! -name 'libdeuteron_cu*' -exec objdump -p {} + |
  awk '/NEEDED/ {print $2}' | sort -u)
packages=()
for library in $needed; do
  [[ ! -e $STAGE/opt/deuteron/lib/$library ]] || continue
  path=$(readlink -f "$(ldconfig -p | awk -v name="$library" '$1 == name && /x86-64|AArch64/ {print $NF; exit}')")
  packages+=("$(dpkg-query -S "${path#/usr}" 2>/dev/null | head -1 | cut -d: -f1 || true)")
  [[ -n ${packages[-1]} ]] || packages[-1]=$(dpkg-query -S "$path" | head -1 | cut -d: -f1)
done
depends=$(printf '%s\n' "${packages[@]}" | sort -u | paste -sd, | sed 's/,/, /g')

cat >"$STAGE/DEBIAN/control" <<TEXT
Package: deuteron
Version: $version
Architecture: $architecture
Maintainer: The Deuteron developers <deuteron@localhost>
Depends: $depends
Section: libs
Priority: optional
Installed-Size: $(du -sk "$STAGE/opt" | cut -f1)
Description: operator-fusion tensor compiler
 Compiles networks (ONNX) to fused native code and runs them: the command,
 the compiler and runtime libraries, headers for C++ and C, and oneDNN.
TEXT
mkdir -p dist
dpkg-deb --root-owner-group -Zxz -z2 --build "$STAGE" "dist/$NAME.deb" >/dev/null
tar -C "$STAGE/opt" --owner=0 --group=0 -czf "dist/$NAME.tar.gz" deuteron
ls -l "dist/$NAME.deb" "dist/$NAME.tar.gz"
echo "depends on $depends"
