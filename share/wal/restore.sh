#!/bin/sh
# Brings a file of PostgreSQL's write-ahead log back out of an archive. PostgreSQL runs it as restore_command with the name (%f)
# of the file and the path (%p) that it is to have, and takes the exit status 1 for the end of the archive. With 255 it gives up: what
# is there and cannot be read is not the end.
#   WAYBILL_WAL_FOLDER  the archive
set -eu
umask 077
name=$1
path=$2
case $name in
  '' | *[!0-9A-Za-z.]* | .*) exit 1 ;;
esac
fail() {
  echo "wal restore: $1" >&2
  exit 255
}
[ -x "$WAYBILL_WAL_FOLDER" ] || fail "$WAYBILL_WAL_FOLDER cannot be entered by $(id -un)"
source=$WAYBILL_WAL_FOLDER/$name.gz
[ -e "$source" ] || exit 1
gzip -dc <"$source" >"$path.partial" || fail "$source cannot be read by $(id -un)"
mv "$path.partial" "$path"
