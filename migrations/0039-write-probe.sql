-- Written to and rolled back, to learn whether anything can be written. Unlogged: it holds nothing, and costs no log.
create unlogged table write_probe (
  filler text not null
);
alter table write_probe alter column filler set storage plain;
