-- Sessions that began at an OpenID provider, and its word that they end. Sessions are few; no other table is touched.

alter table sessions
  -- Who signed in, as the provider names them; null for sessions that began otherwise.
  add column issuer text collate "C",
  add column subject text collate "C",
  -- The provider's own name of its session (`sid`), where it says one.
  add column provider_session text collate "C",
  -- The ID token it began with, sealed: shown to the provider when the person signs out.
  add column id_token bytea,
  -- When the person last proved who they are there (`auth_time`); null where the provider does not say.
  add column proved_at timestamptz;
-- Each by itself and by name, which Citus wants.
alter table sessions add constraint sessions_check3 check ((issuer is null) = (subject is null));
alter table sessions add constraint sessions_check4
  check (issuer is not null or (provider_session is null and id_token is null and proved_at is null));
create index sessions_subject on sessions (issuer, subject) where issuer is not null;
create index sessions_provider_session on sessions (issuer, provider_session) where provider_session is not null;

-- Logout tokens that were used, so that none is taken twice while it could be. Only the SHA-256 of their names is kept.
create table used_logout_tokens (
  name_hash bytea primary key,
  ends_at timestamptz not null
);
