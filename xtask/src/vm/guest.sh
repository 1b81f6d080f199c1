#!/bin/busybox sh
# The first process of a guest of the matrix: sets it up, runs what a new user runs, and sends what came of
# it over the serial line $LINE. The kernel's command line gives $LINE, $LIMIT_CPUS and $LIMIT_MEMORY.
export PATH=/bin HOME=/root TERM=dumb NO_COLOR=1 OUT=/tmp/out
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm $OUT
mount -t tmpfs shm /dev/shm
mount -t tmpfs -o size=75% tmp /tmp
mkdir -p $OUT
chmod 1777 /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
hostname guest
ifconfig lo 127.0.0.1 up
dmesg -n 1
exec 3<>"/dev/$LINE"
stty -F "/dev/$LINE" raw -echo
exec </dev/null >&3 2>&1
echo
echo "@boot $(uname -r)"

# What the kernel says of the machine, read without scruple.
topology() { cat /sys/devices/system/cpu/cpu[0-9]*/topology/$1 | sort -u | wc -l; }
{
    echo "cpus $(ls -d /sys/devices/system/cpu/cpu[0-9]* | wc -l)"
    echo "cores $(topology thread_siblings_list)"
    echo "packages $(topology core_siblings_list)"
    echo "nodes $(ls -d /sys/devices/system/node/node[0-9]* 2>/dev/null | wc -l)"
    echo "kinds $({ cat /sys/devices/system/cpu/cpu[0-9]*/cpu_capacity || echo alike; } 2>/dev/null | sort -u | wc -l)"
    echo "counters $(ls -d /sys/bus/event_source/devices/cpu /sys/bus/event_source/devices/armv8* 2>/dev/null | wc -l)"
} >$OUT/kernel-says.txt

GROUP=/sys/fs/cgroup
if [ -n "$LIMIT_CPUS$LIMIT_MEMORY" ]; then
    echo "+cpu +memory" >$GROUP/cgroup.subtree_control
    GROUP=$GROUP/limited
    mkdir $GROUP
    echo "$LIMIT_CPUS 100000" >$GROUP/cpu.max
    echo "$LIMIT_MEMORY" >$GROUP/memory.max
fi

# Runs a command alone in the group, keeps what it prints, and notes its exit code.
run() {
    NAME=$1
    shift
    BEGIN=$(cut -d. -f1 /proc/uptime)
    sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' $GROUP "$@" >$OUT/$NAME.txt 2>&1
    CODE=$?
    echo "$NAME $CODE" >>$OUT/codes.txt
    echo "@did $NAME: exit code $CODE after $(($(cut -d. -f1 /proc/uptime) - BEGIN)) s"
}

stored() { cat $OUT/killed/trials.ndjson 2>/dev/null | wc -l; }

run doctor scruple doctor
run doctor-json scruple doctor --no-measure --json
run smoke scruple run --profile smoke --time-budget 8m --seed 1 --output $OUT/smoke
run selftest scruple selftest --profile smoke --time-budget 5m --seed 1 --output $OUT/selftest
run quick scruple run create false_sharing --time-budget 40s --seed 1 --output $OUT/quick

# Killed in the middle, and resumed.
run killed scruple run create --profile smoke --runs 6 --seed 1 --output $OUT/killed &
until [ "$(stored)" -ge 8 ] || grep -q ^killed $OUT/codes.txt; do sleep 0.1; done
kill -9 "$(ps -o pid,args | grep '[s]cruple run' | grep -v 'sh -c' | head -n 1 | awk '{ print $1 }')"
wait
cp $OUT/killed/trials.ndjson $OUT/before.ndjson
run resumed scruple run --resume $OUT/killed

sleep 1
{
    ps | grep '[_]_guard\|[_]_trial\|[s]cruple run'
    find /sys/fs/cgroup -name 'scruple-*'
    find $OUT -name scratch
    ls -A /dev/shm
} >$OUT/left.txt

for SESSION in smoke selftest quick killed; do rm -f $OUT/$SESSION/claims.html; done
echo "@files"
tar -C $OUT -cz -f - . | base64
echo "@end"
sleep 1
poweroff -f
