-- Rotating a key changes its secret and nothing else: the key keeps its id. The secrets it had before are kept here by
-- their SHA-256 and work until they end, as long as the key itself works. Those of one key end together at the latest:
-- each rotation cuts the grace of the ones before to its own.
create table api_key_former_secrets (
  key_hash bytea primary key,
  key_id uuid not null references api_keys (id),
  ends_at timestamptz not null
);
create index api_key_former_secrets_key on api_key_former_secrets (key_id);

-- Keys that were replaced by others end with their grace period, which now says something about former secrets only.
update api_keys set expires_at = least(expires_at, grace_period_expires_at)
where grace_period_expires_at is not null and revoked_at is null;
