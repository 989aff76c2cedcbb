-- Whatever is reported on a trail changes its row, in no column that an index has. With room on the page for that, PostgreSQL writes no entry in
-- any of its indexes; without, it wrote one in each of five, and searches of the newest trails looked through those of former versions.
alter table trails set (fillfactor = 80);
