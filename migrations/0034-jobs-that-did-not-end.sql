-- Who works on background jobs, and which jobs began and did not end.

-- One row for each worker, which holds an advisory lock by its id as long as its server is there.
create table job_workers (
  -- As the queue has it in `locked_by`.
  id text primary key,
  -- Workers of one server, which end together.
  server text not null,
  started_at timestamptz not null default now()
);

-- Jobs that were under way when their server ended, until they end themselves.
create table job_ends (
  -- As the queue has it: not a reference, the queue's tables are its own.
  job_id bigint primary key,
  task text not null,
  -- Servers that ended while it ran.
  ends integer not null check (ends > 0),
  last_end_at timestamptz not null default now(),
  -- Whether nothing else ran in that server the last time.
  was_alone boolean not null,
  -- The worker that runs it now while nothing else runs in its server.
  alone_with text,
  -- Since when it is handed out no more.
  set_aside_at timestamptz
);
