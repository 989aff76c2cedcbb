-- What an environment that is archived, or comes back, takes away from turns of verdicts, as it can be run inside a shard of a distributed
-- database, too: there a function of SQL that reads a table reads what a shard does not have. Elsewhere it does what it did. At once:
-- no row is written.
create or replace function add_turns_of(org uuid, environment uuid, sign integer) returns void
  language plpgsql as $$
declare
  turned record;
begin
  for turned in
    select date_trunc('hour', s.created_at, 'UTC') as hour, 1 + 3 * verdict_code(s.was_compliant) + verdict_code(s.compliant) as place,
      count(*) as n,
      sum((extract(epoch from s.created_at - date_trunc('hour', s.created_at, 'UTC')) * 1000000)::bigint)::bigint as microseconds
    from snapshots s where s.org_id = org and s.environment_id = environment and s.compliant is distinct from s.was_compliant
    group by 1, 2 order by 1, 2
  loop
    perform add_to_turns(org, turned.hour, turned.place, sign * turned.n, sign * turned.microseconds);
  end loop;
end
$$;
