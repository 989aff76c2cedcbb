-- waybill: rewrites
-- Evidence is kept as it was written. jsonb keeps what JSON means to PostgreSQL: `1E5` becomes `100000`, keys change
-- their order and repeated ones are lost; json keeps the text. What was reported before this stays as jsonb shows it:
-- numbers that were rounded on their way in cannot be restored, nor can the order of keys.
--
-- Changing a type writes the table anew, which takes about the time of reading and writing it. Nothing is updated: the
-- guards of these tables stay in force.

alter table attestations
  alter column annotations type json using annotations::json,
  alter column user_data type json using user_data::json,
  alter column type_data drop default,
  alter column type_data type json using type_data::json,
  alter column type_data set default '{}';

alter table artifacts
  alter column annotations type json using annotations::json,
  alter column user_data type json using user_data::json;

alter table trails
  alter column user_data drop default,
  alter column user_data type json using user_data::json,
  alter column user_data set default '{}';

-- With the repo as it was reported.
alter table trail_events alter column data type json using data::json;

alter table repos alter column additional_info type json using additional_info::json;
