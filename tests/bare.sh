#!/usr/bin/env bash
# What a newcomer meets: ./dev demo, then ./dev test, of a fresh clone in a bare Debian 12, timed, without a compiler cache.
# As root; leaves the system in build/bare. `tests/bare.sh demo` or `tests/bare.sh test` runs that alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly ROOT=$PWD/build/bare

leave() { awk -v root="$ROOT/" 'index($2, root) == 1 { print $2 }' /proc/mounts | tac | xargs -r umount; }
leave  # what an interrupted run left
rm -rf --one-file-system "$ROOT"
mkdir -p "$(dirname "$ROOT")"
mmdebstrap --quiet --variant=minbase --include=ca-certificates,git,procps bookworm "$ROOT"
# This machine's way to the registries.
cp /etc/resolv.conf "$ROOT/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$ROOT/etc/ssl/certs/ca-certificates.crt"
cp -r /etc/apt/sources.list* /etc/apt/apt.conf.d "$ROOT/etc/apt/"
[[ ! -f /etc/pip.conf ]] || cp /etc/pip.conf "$ROOT/etc/pip.conf"
git clone --quiet "$PWD" "$ROOT/root/deuteron"
mount --bind /proc "$ROOT/proc"
mount --bind /dev "$ROOT/dev"
trap leave EXIT
for verb in "${@:-demo test}"; do
  for step in $verb; do
    start=$SECONDS
    chroot "$ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 CCACHE_DISABLE=1 \
      bash -c "cd /root/deuteron && ./dev $step"
    printf './dev %s: %d min %02d s\n' "$step" $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60))
  done
done
