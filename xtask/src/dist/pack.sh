# Packs the static binary $BINARY: `tree` lays out what is installed, `tarball`, `debian` and `wheel` pack that as
# $OUT, and `try` unpacks $OUT as its users do, starts what it brings and prints what was tried. packages.rs
# sets the variables.
set -eu
umask 022
mkdir -p "$WORK"
cd "$WORK"
doc=tree/share/doc/scruple
info=scruple-$VERSION.dist-info
[ "$1" = try ] || trap '[ $? = 0 ] || rm -f "$OUT"' EXIT

# value KEY: of pyproject.toml
value() { sed -n "s/^$1 = \"\(.*\)\"/\1/p" "$ROOT/pyproject.toml"; }

# page FILE WORDS: what the binary prints. One that cannot be started here has those of an earlier one.
page() {
    [ -z "$START" ] || { mkdir -p "../pages/${1%/*}" && $START "$BINARY" $2 > "../pages/$1"; }
    [ -s "../pages/$1" ] || { echo "nothing here can start the binary, which prints its manual page" >&2; exit 1; }
}

# archive FOLDER FILE RULE: with the times and owners that every build gives
archive() {
    tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$TIME" --transform="$3" \
        --use-compress-program='gzip -9n' --file "$2" -C "$1" .
}

# record FILE…: a wheel's list, with itself, which has no digest
record() {
    for file; do
        digest=$(env printf "$(sha256sum "$file" | cut -c -64 | sed 's/../\\x&/g')" | base64 | tr +/ -_ | tr -d =)
        echo "$file,sha256=$digest,$(stat -c %s "$file")"
    done
    echo "$info/RECORD,,"
}

# attempt COMMAND…: starts scruple by it. QEMU does not emulate a call that `run` needs, prctl with
# PR_SET_CHILD_SUBREAPER.
attempt() {
    "$@" --version > /dev/null
    "$@" list > /dev/null
    [ -z "$native" ] || "$@" run create --profile smoke --runs 2 > /dev/null
}

# bare COMMAND…: starts it in an empty file system, with no more than the kernel's own files
bare() {
    timeout 300 unshare --mount --pid --fork --kill-child $user sh -c '
        mount --rbind /dev dev && mount -t proc proc proc && { [ $# = 0 ] || exec chroot . "$@"; }' sh "$@"
}

case $1 in
tree)
    page share/man/man1/scruple.1 man
    page share/bash-completion/completions/scruple 'completions bash'
    page share/zsh/site-functions/_scruple 'completions zsh'
    page share/fish/vendor_completions.d/scruple.fish 'completions fish'
    mkdir -p tree/bin
    install -m 755 "$BINARY" tree/bin/scruple
    cp -R ../pages/share tree/
    mkdir -p $doc
    cp "$ROOT/CHANGELOG.md" $doc/changelog
    cp "$ROOT/LICENSE-APACHE" $doc/
    gzip -9nf tree/share/man/man1/scruple.1 $doc/changelog
    cat > $doc/copyright << END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: scruple
Comment:
 These libraries are linked in, under their licences:
$(cd "$ROOT" && "$CARGO" tree --locked --package lab --edges normal --prefix none --format '{p}: {l}' |
    sed -e '/(\//d' -e 's/ (\*)$//' -e 's/^/ /' | sort -u)

Files: *
Copyright: 2026 the scruple authors
License: Expat or Apache-2.0

License: Expat
$(sed -e 's/^$/./' -e 's/^/ /' "$ROOT/LICENSE-MIT")

License: Apache-2.0
 See LICENSE-APACHE beside this file, or /usr/share/common-licenses/Apache-2.0 on Debian.
END
    ;;
tarball)
    archive tree "$OUT" "s,^[.],scruple-$VERSION-$TRIPLE,"
    ;;
debian)
    # By hand, so that the package is the same where there is no dpkg.
    mkdir -p control
    cat > control/control << END
Package: scruple
Version: $VERSION
Architecture: $DEBIAN
Maintainer: The scruple authors <scruple@localhost>
Installed-Size: $(du --summarize --apparent-size -k tree | cut -f 1)
Section: utils
Priority: optional
Description: $(value description)
 Controlled experiments on processes and threads, context switches, page faults,
 false sharing, allocators and servers, with a report that judges common claims.
END
    mv tree/share/zsh/site-functions tree/share/zsh/vendor-completions
    archive control control.tar.gz 's,^$,,'
    archive tree data.tar.gz 's,^[.],./usr,'
    mv tree/share/zsh/vendor-completions tree/share/zsh/site-functions
    echo 2.0 > debian-binary
    ar rcD "$OUT" debian-binary control.tar.gz data.tar.gz
    ;;
wheel)
    mkdir -p "wheel/$info/licenses" "wheel/scruple-$VERSION.data/scripts"
    cp "$ROOT/LICENSE-MIT" "$ROOT/LICENSE-APACHE" "wheel/$info/licenses/"
    cp tree/bin/scruple "wheel/scruple-$VERSION.data/scripts/"
    cd wheel
    cat - "$ROOT/README.md" > "$info/METADATA" << END
Metadata-Version: 2.4
Name: scruple
Version: $VERSION
Summary: $(value description)
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-MIT
License-File: LICENSE-APACHE
Classifier: Operating System :: POSIX :: Linux
Requires-Python: $(value requires-python)
Description-Content-Type: text/markdown

END
    cat > "$info/WHEEL" << END
Wheel-Version: 1.0
Generator: cargo xtask dist
Root-Is-Purelib: false
$(for platform in $PLATFORMS; do echo "Tag: py3-none-$platform"; done)
END
    set -- scruple-*/scripts/scruple "$info"/licenses/* "$info/METADATA" "$info/WHEEL"
    record "$@" > "$info/RECORD"
    touch --date "@$TIME" "$@" "$info/RECORD"
    TZ=UTC "$ZIPPER" -q -X -9 "$OUT" "$@" "$info/RECORD"
    ;;
try)
    native= user=
    [ "$CPU" != "$(uname -m)" ] || native=yes
    [ "$(id -u)" = 0 ] || user='--user --map-root-user'
    [ -n "$START" ] || { echo "not tried: no qemu-$CPU here"; exit; }
    rm -rf try
    mkdir -p try/dev try/proc try/usr
    cd try
    case $OUT in
    *.tar.gz) tar --extract --strip-components=1 --file "$OUT" -C usr ;;
    *.deb)
        if command -v dpkg-deb > /dev/null; then dpkg-deb -x "$OUT" .
        else ar p "$OUT" data.tar.gz | tar --extract --gzip; fi
        ;;
    *.whl)
        command -v python3 > /dev/null || { echo "not tried: no python3 here"; exit; }
        python3 -m venv usr || { echo "Debian's python3-venv brings venv" >&2; exit 1; }
        set --
        # Another machine's, without asking pip whether it fits this.
        [ -n "$native" ] || set -- --only-binary :all: --platform "manylinux2014_$CPU" --upgrade --target usr
        usr/bin/python3 -m pip install --quiet --disable-pip-version-check --no-index --no-deps "$@" "$OUT"
        ;;
    esac
    did="--version, list and run create"
    [ -n "$native" ] || did="--version and list under QEMU"
    # An emulator that needs libraries cannot be started in the bare root.
    set --
    case $START in *-static) cp "${START##* }" emulator && set -- /emulator ;; esac
    if [ -e usr/pyvenv.cfg ]; then
        attempt $START usr/bin/scruple
        echo "$did, in a virtual environment"
    elif [ -n "$native$*" ] && said=$(bare 2>&1); then
        attempt bare "$@" /usr/bin/scruple
        echo "$did, in a bare root"
    else
        attempt $START usr/bin/scruple
        echo "$did, but not in a bare root${said:+: $said}"
    fi
    ;;
esac
