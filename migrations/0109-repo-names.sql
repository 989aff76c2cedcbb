-- Names are searched without regard to case, also that of letters beyond ASCII, which the column's own collation does not know.

drop index repos_name_substring;
create index repos_name_substring on repos using gin (lower(name collate "default") gin_trgm_ops);
