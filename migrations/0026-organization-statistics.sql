-- Nearly every condition names an organization. Statistics of which organizations rows belong to list the large ones, and
-- make the planner sure that any other, such as a new one, has no rows at all: every index that begins with the
-- organization then looks alike to it, and it reads all of that organization by the wrong one, until the next statistics.
-- Without them it takes each for one of some hundreds, and looks at the other columns. Here, where pipelines report to
-- trails; what runs is looked up by environment, of which statistics know more.
alter table trails alter column org_id set statistics 0;
alter table trail_events alter column org_id set statistics 0;
alter table trail_compliance alter column org_id set statistics 0;
alter table artifacts alter column org_id set statistics 0;
alter table attestations alter column org_id set statistics 0;
alter table attestation_heads alter column org_id set statistics 0;

-- Under load these tables grow by a tenth, after which statistics are gathered anew, within minutes; that takes seconds of
-- a core for each, and finds what it found before. Vacuuming what was only ever inserted can wait as long.
alter table trails set (autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 0.5);
alter table trail_events set (autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 0.5);
alter table trail_compliance set (autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 0.5);
alter table artifacts set (autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 0.5);
alter table builds set (autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 0.5);
alter table attestations set (autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 0.5);
alter table attestation_heads set (autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 0.5);
alter table audit_log set (autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 0.5);
