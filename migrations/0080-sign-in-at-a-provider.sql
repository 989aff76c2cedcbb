-- People who sign in at an OpenID provider. Each statement changes the catalog alone and takes no longer on large tables.

-- Who a person of a provider is here. Found by both names together, never by a mail address.
create table user_identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  user_id uuid not null references users (id),
  created_at timestamptz not null,
  last_signed_in_at timestamptz,
  -- Whether the provider's groups made them an instance administrator, so that they may take it away again.
  made_admin boolean not null default false,
  primary key (issuer, subject)
);
create index user_identities_user on user_identities (user_id);

-- `idp`: given by the groups of a provider, which changes and removes it; `app`: made by hand.
alter table memberships add column source text not null default 'app' check (source in ('app', 'idp'));
