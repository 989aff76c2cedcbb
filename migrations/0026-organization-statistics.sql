-- Nearly every condition names an organization. Statistics of which organizations rows belong to list the large ones, and
-- make the planner sure that any other, such as a new one, has no rows at all: every index that begins with the
-- organization then looks alike to it, and it reads all of that organization by the wrong one, until the next statistics.
-- Without them it takes each for one of some hundreds, and looks at the other columns.
do $$
declare
  organized regclass;
begin
  for organized in
    select a.attrelid::regclass from pg_attribute a join pg_class c on c.oid = a.attrelid
    where a.attname = 'org_id' and c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
  loop
    execute format('alter table %s alter column org_id set statistics 0', organized);
  end loop;
end
$$;
