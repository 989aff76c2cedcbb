-- Backups, restores and rehearsed restores of this database, whoever began them.
create table backup_runs (
  id uuid primary key,
  kind text not null check (kind in ('backup', 'restore', 'restore_drill')),
  -- Whether it was begun by the clock.
  scheduled boolean not null,
  started_at timestamptz not null,
  -- Null while it is under way. Whoever is at it holds an advisory lock by its id.
  ended_at timestamptz check (ended_at >= started_at),
  -- Null while it is under way.
  ok boolean,
  -- The backup: a path, or `-` for standard output.
  file text,
  -- Of the file.
  bytes bigint,
  -- Of all tables.
  rows bigint,
  evidence_files bigint,
  -- Why it failed, or what somebody should look at.
  problem text,
  check ((ended_at is null) = (ok is null))
);
create index backup_runs_started on backup_runs (started_at desc);
