#!/bin/sh
# Copies a finished file of PostgreSQL's write-ahead log into an archive: compressed, on the disk, and named only then.
# PostgreSQL runs it as archive_command with the path (%p) and the name (%f) of the file, in its data directory, and keeps the
# file and tries again until it exits with 0.
#   WAYBILL_WAL_FOLDER  the archive
#   WAYBILL_WAL_OFF     while this file is there nothing is archived, and PostgreSQL may forget the log
set -eu
umask 077
path=$1
name=$2
case $name in
  '' | *[!0-9A-Za-z.]* | .*) echo "wal archive: $name is no name of a file of the log" >&2; exit 1 ;;
esac
if [ -e "$WAYBILL_WAL_OFF" ]; then exit 0; fi

# To the disk; where sync takes no names it takes everything.
flush() { sync "$1" 2>/dev/null || sync; }

target=$WAYBILL_WAL_FOLDER/$name.gz
if [ -e "$target" ]; then
  # It was archived before, and whoever did that was interrupted before PostgreSQL was told.
  if gzip -dc <"$target" 2>/dev/null | cmp -s - "$path"; then
    flush "$target"
    flush "$WAYBILL_WAL_FOLDER"
    exit 0
  fi
  echo "wal archive: $target is there already, and is another file" >&2
  exit 1
fi
# What an interrupted run left.
rm -f "$WAYBILL_WAL_FOLDER"/".$name."*.partial
partial=$WAYBILL_WAL_FOLDER/.$name.$$.partial
trap 'rm -f "$partial"' EXIT
gzip -1 -n -c <"$path" >"$partial"
flush "$partial"
mv "$partial" "$target"
flush "$WAYBILL_WAL_FOLDER"
