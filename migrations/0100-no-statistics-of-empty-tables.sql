-- A table that was analyzed while it was empty is taken for empty until it is analyzed again, which may be some minutes of reports: plans
-- that are kept meanwhile read all of it for each row they look for. One that was never analyzed is taken for a small one, of which indexes
-- are used. Emptying an empty table forgets what is known of it.
do $$
declare
  named regclass;
  is_used boolean;
begin
  for named in
    select oid from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and reltuples = 0
      and oid not in (select confrelid from pg_constraint where contype = 'f')
    order by oid
  loop
    begin
      -- Before it is looked at, so that no server beside this one writes in between; whoever works with it now is not waited for.
      execute format('lock table %s in access exclusive mode nowait', named);
      execute format('select exists (select from %s)', named) into is_used;
      if is_used then
        raise exception 'not empty';
      end if;
      -- Of records nothing may be removed: nothing is.
      execute format('alter table %s disable trigger user', named);
      execute format('truncate %s', named);
      execute format('alter table %s enable trigger user', named);
    exception when others then
      -- It is not empty, in use, somebody else's, or on other machines: it keeps what is known of it, and no lock.
      null;
    end;
  end loop;
end
$$;
