/**
 * Where a table's rows are on Citus:
 * - `organization`: in shards by `org_id`, together with everything else of the organization;
 * - `everywhere`: a copy on every node, because statements about one organization join it, or it is looked up without one;
 * - `coordinator`: on the coordinator alone, because nothing about one organization is joined with it.
 */
export type Placement = "organization" | "everywhere" | "coordinator";

const everywhere = [
  "memberships",
  "organizations",
  "quality_integrations",
  "service_accounts",
  "silence_watch",
  "users",
];

const coordinator = [
  "api_key_former_secrets",
  "api_keys",
  "audit_cursors",
  "audit_targets",
  "backup_runs",
  "former_key_ages",
  "instance_settings",
  "invitations",
  "job_ends",
  "job_workers",
  "key_networks",
  "key_notices",
  "migrations",
  "partition_copies",
  "security_rules",
  "sessions",
  "sign_in_links",
  "time_marks",
  "used_logout_tokens",
  "user_identities",
];

const organization = [
  "action_environments",
  "action_flows",
  "action_target_outcomes",
  "actions",
  "allowlist_entries",
  "artifacts",
  "attestation_heads",
  "attestation_type_versions",
  "attestation_types",
  "attestations",
  "audit_log",
  "builds",
  "control_versions",
  "controls",
  "environment_beginnings",
  "environment_counts",
  "environment_former_names",
  "environment_lineage",
  "environment_members",
  "environment_policies",
  "environment_reports",
  "environment_silences",
  "environment_tallies",
  "environments",
  "evidence",
  "flow_activity",
  "flow_counts",
  "flow_former_names",
  "flows",
  "membership_events",
  "notification_deliveries",
  "notification_keys",
  "org_counters",
  "policies",
  "policy_controls",
  "policy_events",
  "policy_versions",
  "quality_deliveries",
  "repo_counters",
  "repo_versions",
  "repos",
  "running_artifacts",
  "search_words",
  "snapshot_artifacts",
  "snapshot_decisions",
  "snapshot_documents",
  "snapshots",
  "spaces",
  "tag_tallies",
  "tags_in_use",
  "trail_compliance",
  "trail_events",
  "trail_outcomes",
  "trail_tallies",
  "trails",
  "verdict_turns",
];

function placed(names: readonly string[], placement: Placement): [string, Placement][] {
  return names.map((name) => [name, placement]);
}

/** Where each table of the schema is on Citus. A table that is added has to be named here, which a test sees to. */
export const placements: ReadonlyMap<string, Placement> = new Map([
  ...placed(everywhere, "everywhere"),
  ...placed(coordinator, "coordinator"),
  ...placed(organization, "organization"),
]);
