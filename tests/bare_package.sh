#!/usr/bin/env bash
# What a user meets who builds nothing: the Debian package, the tar and the wheel in dist/, each installed in a bare Debian 12 of its
# own (mmdebstrap), where a network is compiled and run: by the command, by a C program, by ten lines of Python. As root.
#
#     tests/bare_package.sh MODEL.onnx INPUT.npy OUTPUT.npy     the input is called "x"; the output is compared within 1e-4
set -euo pipefail
model=$(realpath "$1") input=$(realpath "$2") expected=$(realpath "$3")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }

# bare NAME PACKAGES: a system in build/bare-NAME with the model in /model.
bare() {
  ROOT=$PWD/build/bare-$1
  rm -rf --one-file-system "$ROOT"
  mmdebstrap --quiet --variant=minbase --include="ca-certificates$2" bookworm "$ROOT"
  cp /etc/resolv.conf "$ROOT/etc/resolv.conf"
  cp /etc/ssl/certs/ca-certificates.crt "$ROOT/etc/ssl/certs/ca-certificates.crt"
  cp -r /etc/apt/sources.list* /etc/apt/apt.conf.d "$ROOT/etc/apt/"
  [[ ! -f /etc/pip.conf ]] || cp /etc/pip.conf "$ROOT/etc/pip.conf"
  mkdir "$ROOT/model"
  cp "$model" "$ROOT/model/model.onnx"
  cp "$input" "$ROOT/model/x.npy"
  cp "$expected" "$ROOT/model/expected.npy"
  mount --bind /proc "$ROOT/proc"
  mount --bind /dev "$ROOT/dev"
  trap 'umount "$ROOT/proc" "$ROOT/dev"' EXIT
}
inside() { chroot "$ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 bash -euc "$1"; }
leave() {
  umount "$ROOT/proc" "$ROOT/dev"
  trap - EXIT
  rm -rf --one-file-system "$ROOT"
}
# Compares /model/out with what was expected, by this machine's numpy.
compare() {
  .venv/bin/python - "$ROOT/model" <<'PYTHON'
import pathlib, sys
import numpy as np
folder = pathlib.Path(sys.argv[1])
expected = np.load(folder / "expected.npy")
[path] = (folder / "out").glob("*.npy")
far = np.abs(np.load(path) - expected).max() / np.abs(expected).max()
print(f"    largest difference {far:.1e} of the largest value")
sys.exit(not far <= 1e-4)
PYTHON
  rm -r "$ROOT/model/out"
}
readonly RUN='deuteron run model.onnx --input x=x.npy --output-dir out
deuteron compile model.onnx -o model.so'

say "the Debian package"
bare deb ""
cp dist/deuteron_*.deb "$ROOT/model"
inside 'apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends /model/*.deb >/dev/null'
inside "! command -v gcc; cd /model; $RUN"
compare
inside 'cd /model; deuteron-run model.so --input x=x.npy --output-dir out'
compare
say "a C program with the package"
cp examples/embed/c_deployed.c "$ROOT/model"
inside 'DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc libc6-dev >/dev/null
cd /model; gcc -std=c99 -Wall -Werror c_deployed.c -I/opt/deuteron/include -L/opt/deuteron/lib -ldeuteron_runtime -Wl,-rpath,/opt/deuteron/lib \
  -Wl,-rpath-link,/opt/deuteron/lib -o c_deployed
./c_deployed model.so'
inside 'dpkg --remove deuteron >/dev/null; test ! -e /opt/deuteron; ! command -v deuteron'
leave

say "the tar, unpacked anywhere"
bare tar ",$(dpkg-deb -f dist/deuteron_*.deb Depends | tr -d ' ')"
mkdir "$ROOT/somewhere"
tar -C "$ROOT/somewhere" -xf dist/deuteron_*.tar.gz
inside "PATH=\$PATH:/somewhere/deuteron/bin; cd /model; $RUN"
compare
leave

say "the wheel"
bare wheel ",python3,python3-venv"
cp dist/deuteron-*.whl "$ROOT/model"
cat >"$ROOT/model/ten_lines.py" <<'PYTHON'
import deuteron
import numpy as np

exe = deuteron.compile("model.onnx")
x = np.load("x.npy")
[y] = exe.run({"x": x})
np.testing.assert_allclose(y, np.load("expected.npy"), atol=1e-4 * np.abs(y).max())
exe.save("model.so")
assert np.array_equal(deuteron.load("model.so")(x)[0], y)
print(exe)
PYTHON
inside '! command -v gcc; python3 -m venv /env; /env/bin/pip install --quiet --disable-pip-version-check /model/deuteron-*.whl numpy
cd /model; /env/bin/python ten_lines.py'
leave
say "all of them run"
