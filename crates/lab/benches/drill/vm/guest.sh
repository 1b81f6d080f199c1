#!/bin/busybox sh
# The first process of the guest: sets it up, then conducts sessions and disturbs them. What it has to
# say goes to the first serial line; the lines that begin with @ are for the host (told.rs reads them).
export PATH=/bin HOME=/root TERM=dumb NO_COLOR=1
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs shm /dev/shm
mount -t devpts pts /dev/pts
mount -t tmpfs tmp /tmp
chmod 1777 /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
GROUPS_AT=/sys/fs/cgroup
hostname guest
exec 3<>/dev/ttyS0
stty -F /dev/ttyS0 raw -echo
exec </dev/null >&3 2>&1

DIR=/tmp/session
SESSION="create null --profile smoke --runs 6 --seed 3 --no-shield"

stored() { cat $DIR/trials.ndjson 2>/dev/null | wc -l; }

# Starts a session of these words in the background, in the cgroup $IN, as the user $AS.
begin() {
    rm -rf $DIR /tmp/code
    enter "run $* --output $DIR" &
}

# scruple alone is in that group then, as systemd-run has it.
enter() {
    rm -f /tmp/code
    sh -c "echo \$\$ >$GROUPS_AT/$IN/cgroup.procs; exec su $AS -s /bin/sh -c 'exec scruple $*'" \
        >/tmp/said 2>&1
    echo $? >/tmp/code
}

ended() {
    until [ -s /tmp/code ]; do sleep 0.1; done
}

midway() {
    until [ "$(stored)" -ge 8 ] || [ -s /tmp/code ]; do sleep 0.05; done
    echo "@before $1"
    cat $DIR/trials.ndjson
    echo "@clocks $1 $(cut -d' ' -f1 /proc/uptime) $(date +%s)"
}

# What stands on the disk, how the session ended, and what is left of it.
tell() {
    echo "@clocks $1 $(cut -d' ' -f1 /proc/uptime) $(date +%s)"
    echo "@code $1 $(cat /tmp/code)"
    echo "@trials $1"
    cat $DIR/trials.ndjson
    echo "@said $1"
    tail -n 12 /tmp/said
    left "$1"
    echo "@over $1"
}

left() {
    echo "@left $1"
    ps | grep '[_]_guard\|[_]_trial\|[s]cruple run'
    find $GROUPS_AT -name 'scruple-*'
    ls -d $DIR/scratch 2>/dev/null
    ls -A /dev/shm
}

again() { enter "run --resume $DIR"; }

pid_of() { ps -o pid,args | grep "$1" | head -n 1 | awk '{ print $1 }'; }

faults() {
    IN=. AS=root
    begin "$SESSION"; ended; tell whole

    begin "$SESSION"; midway stopped; echo "@stop stopped"; sleep 2; ended; tell stopped

    begin "$SESSION"; midway suspended; echo "@sleep suspended"
    echo mem >/sys/power/state || echo "@cannot suspended"
    ended; tell suspended

    begin "$SESSION"; midway unplugged
    echo 0 >$CPU/online || echo "@cannot unplugged"
    ended; echo "@code halted $(cat /tmp/code)"
    echo 1 >$CPU/online; again; tell unplugged
}

# As systemd-run --scope -p Delegate=yes makes it: a group of its own below one that hands down.
scope() {
    mkdir "$GROUPS_AT/$IN"
    chown "$AS" "$GROUPS_AT/$IN" "$GROUPS_AT/$IN/cgroup.procs" "$GROUPS_AT/$IN/cgroup.subtree_control"
}

groups() {
    echo "+cpu +memory" >$GROUPS_AT/cgroup.subtree_control || echo "@cannot groups"
    LIMITS="memory_limit --profile quick --runs 1 --seed 3"
    for AS in root somebody; do
        IN="scope-$AS"; scope
        begin "$LIMITS"; ended; tell "$IN"
        echo "@shield $IN"; grep -A 9 '"shield": {' $DIR/manifest.json
        echo "@handed $IN $(cat "$GROUPS_AT/$IN/cgroup.subtree_control")"
    done
    AS=root IN=scope-killed; scope
    begin "create null --profile smoke --runs 6 --seed 3"; midway killed
    kill -9 "$(pid_of '[s]cruple run')"; ended
    # The guard needs a moment.
    for _ in $(seq 100); do [ -z "$(find $GROUPS_AT -name 'scruple-*')" ] && break; sleep 0.1; done
    left halted; again; tell killed

    # No process can enter a group that still hands controllers down: its manager removes it. At the
    # root the next session finds what is left.
    IN=.
    begin "create null --profile smoke --runs 6 --seed 3"; midway both
    RUNNER="$(pid_of '[s]cruple run')" GUARD="$(pid_of '[_]_guard')"
    kill -9 "$GUARD" "$RUNNER"; ended
    until [ -z "$(pid_of '[_]_trial')" ]; do sleep 0.1; done
    echo "@swept both $(find $GROUPS_AT -name 'scruple-*' | wc -l)"
    again; tell both
}

CPU=$(ls -d /sys/devices/system/cpu/cpu[0-9]* | tail -n 1)
faults
groups
echo "@end all"
sleep 2
poweroff -f
