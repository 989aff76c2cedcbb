-- When the verdict on a trail itself was last reached anew, and by what it is told from the next one: its state and the
-- rows of the trail's own attestations. Null until a trail is judged again.
alter table trail_compliance add column evaluated_at timestamptz, add column own_digest text;
