-- Notifications: what actions have to tell, from the transaction in which it happened until their targets know.

create table notification_deliveries (
  org_id uuid not null references organizations (id),
  id uuid not null,
  -- No foreign key: its lock would be held by every report and wait for who deletes the action. Deliveries of an action
  -- that is gone are cancelled, never shown, and removed with the old ones.
  action_number integer not null,
  -- Place in the action's list of targets. What is there when the delivery is made gets it, if it is of this type.
  target_position integer not null,
  target_type text not null,
  -- What happened: trigger, subject, time and facts. Messages are made from it whenever they are sent or shown.
  occurrence jsonb not null,
  status text not null default 'waiting' check (status in ('waiting', 'delivered', 'failed', 'cancelled')),
  attempts integer not null default 0,
  created_at timestamptz not null,
  last_attempt_at timestamptz,
  next_attempt_at timestamptz,
  -- HTTP status of the last answer.
  response_status integer,
  error text,
  replay_of uuid,
  primary key (org_id, id)
);
create index notification_deliveries_action on notification_deliveries (org_id, action_number, id);

-- When each target of an action last got something, and last failed to.
create table action_target_outcomes (
  org_id uuid not null,
  action_number integer not null,
  position integer not null,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  primary key (org_id, action_number, position),
  foreign key (org_id, action_number) references actions (org_id, number) on delete cascade
);

-- Webhooks are signed with keys derived from the instance's secret key and this number; without a row it is 1.
create table notification_keys (
  org_id uuid primary key references organizations (id),
  generation integer not null,
  rotated_at timestamptz not null
);
