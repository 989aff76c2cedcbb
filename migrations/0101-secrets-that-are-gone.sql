-- An installation that is restored without its secret key goes on without what was sealed with it. What stands with such a secret stays, and
-- says that it needs another one: null where addresses of targets, or the secret of a webhook, were forgotten.
alter table actions alter column target_secrets drop not null;
alter table quality_integrations alter column secret drop not null;
