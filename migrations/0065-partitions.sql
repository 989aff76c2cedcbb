-- Large installations divide tables by time, on demand: rows are copied beside, in pieces, while everybody goes on writing.

create table partition_copies (
  table_name text primary key,
  -- The columns of the key of the last row that was copied, as texts; null before the first.
  last_key text[],
  copied_rows bigint not null default 0,
  -- The copy has taken the table's place; what is left is to remove the table as it was.
  is_switched boolean not null default false
);

-- Copies what is inserted meanwhile. Arguments: the table to copy to, and the list of its columns.
create function copy_to_partitions() returns trigger
  language plpgsql as $$
begin
  execute format('insert into %I (%s) select %2$s from new_rows on conflict do nothing', tg_argv[0], tg_argv[1]);
  return null;
end
$$;
