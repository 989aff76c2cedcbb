/**
 * The statement that has PostgreSQL expect enough of organizations (decision 0110), in all tables with their rows. Of a
 * table that it has not looked at, it expects that an organization has half of the rows; of itself it would take one for a
 * two-hundredth, a row or two. Of others it notes how much the largest organization has, and takes all others for average;
 * of itself it would note all, and take one that came later for nothing. An organization that it takes for little makes any
 * index that begins with it as good as the key: what is looked up one by one reads all of the organization each time.
 *
 * Before PostgreSQL 18 nothing can be told of what it has not looked at. On Citus, where the rows are in tables of the
 * workers, the statement does nothing.
 */
export const organizationStatistics = `
  do $$
  declare
    each record;
  begin
    if exists (select from pg_extension where extname = 'citus') then return; end if;
    for each in
      select c.relname::text as name, coalesce(a.attstattarget, -1) < 0 as is_as_made, exists (
        select from pg_stats s
        where s.schemaname = 'public' and s.tablename = c.relname and s.attname = 'org_id' and not s.inherited) as is_known
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
    loop
      if each.is_as_made then
        execute format('alter table public.%I alter column org_id set statistics 1', each.name);
      end if;
      if not each.is_known and current_setting('server_version_num')::integer >= 180000 then
        perform pg_restore_attribute_stats('schemaname', 'public', 'relname', each.name, 'attname', 'org_id',
          'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', 2::real);
      end if;
    end loop;
  end $$`;
