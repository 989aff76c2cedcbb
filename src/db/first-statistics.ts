/**
 * The statement that tells PostgreSQL what to expect of tables it has not looked at yet: that an organization has half of
 * the rows. Of itself it takes an organization for a two-hundredth, a row or two, and any index that begins with it for as
 * good as the key: what is looked up one by one then reads all of the organization each time. What PostgreSQL finds out
 * takes its place. Before PostgreSQL 18 nothing can be told, and the statement does nothing.
 */
export const firstStatistics = `
  do $$ begin
    if current_setting('server_version_num')::integer < 180000 then return; end if;
    perform pg_restore_attribute_stats('schemaname', 'public', 'relname', c.relname::text, 'attname', a.attname::text,
      'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', 2::real)
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not exists (
      select from pg_stats s
      where s.schemaname = 'public' and s.tablename = c.relname and s.attname = 'org_id' and not s.inherited);
  end $$`;
