-- What owners of keys are told of them.

-- The networks that a key was used from: the /24 of an IPv4 address, the /48 of an IPv6 one. At most 50 of a key.
create table key_networks (
  key_id uuid not null references api_keys (id),
  network cidr not null,
  first_used_at timestamptz not null,
  primary key (key_id, network)
);
create index key_networks_first_used on key_networks (first_used_at);

-- What was noticed of keys, each once.
create table key_notices (
  key_id uuid not null references api_keys (id),
  kind text not null check (kind in ('ends_soon', 'ends_in_3_days', 'ends_in_1_day', 'ended', 'new_network', 'unused', 'ended_unused')),
  -- What it is about: the end, the network, or the last use; another one is told of again.
  about text not null,
  noticed_at timestamptz not null,
  primary key (key_id, kind, about)
);
