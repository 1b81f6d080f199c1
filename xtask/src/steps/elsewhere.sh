# Runs a command as an ordinary user on an overlay file system, with 1,024 open files, no cgroup to write, no
# machine-id, and sessions in the tree:  unshare --user --map-root-user --mount sh elsewhere.sh ROOT SCRATCH COMMAND…
# SCRATCH is an empty folder. Mounts and files are gone when the command ends.
set -eu
root=$1 scratch=$2
shift 2
mount -t tmpfs tmpfs "$scratch"
mkdir "$scratch/upper" "$scratch/work"
mount -t overlay overlay -o "userxattr,lowerdir=$root,upperdir=$scratch/upper,workdir=$scratch/work" "$root"
[ ! -e /etc/machine-id ] || mount --bind /dev/null /etc/machine-id
while read -r _ place type _; do
    case $type in cgroup*) mount -o remount,bind,ro "$place" ;; esac
done </proc/self/mounts
cd "$root"
mkdir -p tmp scruple-sessions
cp -r recorded/base scruple-sessions/one
cp -r recorded/later scruple-sessions/two
export TMPDIR="$root/tmp"
ulimit -n 1024
exec unshare --user --map-user=1000 --map-group=1000 "$@"
