-- An entry of a flow in the inverted index lists all that it knows and runs, and is written anew, and to the log, whenever one is added: with five
-- hundred of them 2.5 KB, a third of all that a changed report wrote. Nearly everything that runs is known to one flow. An ordinary index
-- finds that, and the inverted one is left with what several flows know.
-- Each by itself, which Citus wants.
create index running_artifacts_flow on running_artifacts (org_id, (flow_ids[1]));
drop index running_artifacts_flows;
create index running_artifacts_flows on running_artifacts using gin (flow_ids) with (fastupdate = off) where cardinality(flow_ids) > 1;
