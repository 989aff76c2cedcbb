-- What the deprecated way of creating a flow says about its repo. Null: the repo of its latest artifact is shown.
alter table flows add column repo_url text;

-- Several users of a seed may have one mail address: nobody is identified by it. Users who are made one by one are still
-- kept from taking one that is in use, which this index finds.
drop index users_email_key;
create index users_email on users (lower(email)) where email is not null and deleted_at is null;
