/**
 * Every column of the database that holds a moment, and what is done with one that was written under a clock that was
 * ahead. A test holds that none is missing.
 *
 * - `shifted`: set back by as much as the clock was ahead.
 * - `placed`: has to keep an order, or follows from others: see `store.ts` and `runtime-store.ts`.
 * - `reported`: said by callers, who may name the future.
 * - `apart`: says nothing about records, or is made anew from them.
 */
export type TimeRule = "shifted" | "placed" | "reported" | "apart";

export const timeColumns: Record<string, Record<string, TimeRule>> = {
  action_target_outcomes: { last_success_at: "shifted", last_failure_at: "shifted" },
  actions: { created_at: "shifted", last_modified_at: "shifted" },
  allowlist_entries: { created_at: "shifted", removed_at: "shifted" },
  api_key_former_secrets: { ends_at: "placed" },
  api_keys: {
    created_at: "shifted",
    expires_at: "reported",
    revoked_at: "shifted",
    last_used_at: "shifted",
    rotated_at: "placed",
    grace_period_expires_at: "placed",
    unused_warned_at: "shifted",
  },
  artifacts: { created_at: "shifted" },
  attestation_type_versions: { created_at: "shifted" },
  attestation_types: { created_at: "shifted", last_modified_at: "shifted", archived_at: "shifted" },
  attestations: { created_at: "shifted" },
  audit_log: { occurred_at: "placed" },
  audit_targets: { named_at: "shifted" },
  backup_runs: { started_at: "shifted", ended_at: "shifted" },
  builds: { created_at: "placed" },
  control_versions: { created_at: "shifted" },
  controls: { created_at: "shifted" },
  environment_beginnings: { began_at: "apart" },
  environment_reports: { latest_at: "placed" },
  environment_silences: { began_at: "placed", noticed_at: "placed", ended_at: "placed" },
  environments: {
    created_at: "shifted",
    last_modified_at: "placed",
    last_reported_at: "placed",
    last_changed_at: "placed",
    archived_at: "shifted",
    unarchived_at: "shifted",
    silent_after: "placed",
  },
  evidence: { created_at: "shifted" },
  flow_activity: { last_modified_at: "placed", active_minute: "placed" },
  flows: { created_at: "shifted", archived_at: "shifted" },
  former_key_ages: { tightened_at: "shifted", replaced_at: "shifted" },
  invitations: { created_at: "shifted" },
  job_ends: { last_end_at: "shifted", set_aside_at: "shifted" },
  job_workers: { started_at: "apart" },
  key_networks: { first_used_at: "shifted" },
  key_notices: { noticed_at: "shifted" },
  membership_events: { occurred_at: "shifted" },
  memberships: { created_at: "shifted" },
  migrations: { applied_at: "apart" },
  notification_deliveries: { created_at: "shifted", last_attempt_at: "shifted", next_attempt_at: "placed" },
  notification_keys: { rotated_at: "shifted" },
  org_counters: { last_build_at: "placed" },
  organizations: { created_at: "shifted", last_modified_at: "shifted" },
  policies: { created_at: "shifted", last_modified_at: "shifted" },
  policy_events: { created_at: "shifted" },
  policy_versions: { created_at: "shifted" },
  quality_deliveries: { received_at: "shifted", processed_at: "shifted" },
  quality_integrations: { created_at: "shifted", last_modified_at: "shifted" },
  repo_versions: { created_at: "shifted", last_modified_at: "shifted" },
  repos: { created_at: "shifted", last_modified_at: "shifted" },
  running_artifacts: { started_at: "reported" },
  security_rules: {
    tightened_at: "shifted",
    personal_tightened_at: "shifted",
    service_tightened_at: "shifted",
    expiry_tightened_at: "shifted",
    changed_at: "shifted",
  },
  service_accounts: { created_at: "shifted", archived_at: "shifted" },
  sessions: { created_at: "shifted", last_used_at: "shifted", ends_at: "apart", proved_at: "reported" },
  sign_in_links: { created_at: "shifted" },
  silence_watch: { looked_at: "placed", since: "placed" },
  snapshot_artifacts: { created_at: "placed" },
  snapshots: { created_at: "placed" },
  spaces: { created_at: "shifted", last_modified_at: "shifted" },
  time_marks: { recorded_at: "placed" },
  trail_compliance: { evaluated_at: "placed" },
  trail_events: { occurred_at: "placed" },
  trail_outcomes: { compliant_since: "shifted" },
  trails: { created_at: "shifted", last_modified_at: "placed" },
  used_logout_tokens: { ends_at: "apart" },
  users: { created_at: "shifted", disabled_at: "shifted", deleted_at: "shifted" },
  user_identities: { created_at: "shifted", last_signed_in_at: "shifted" },
  verdict_turns: { hour: "apart" },
};

/** May rightly be in the future, so that what they follow from is searched instead. */
const mayCome = new Set(["next_attempt_at", "grace_period_expires_at", "ends_at", "silent_after"]);

/** Lists the columns whose rule is wanted, by table. */
function columnsOf(
  isWanted: (rule: TimeRule, name: string) => boolean,
): [table: string, columns: string[]][] {
  return Object.entries(timeColumns).flatMap<[string, string[]]>(([table, columns]) => {
    const names = Object.entries(columns).flatMap(([name, rule]) => (isWanted(rule, name) ? [name] : []));
    return names.length === 0 ? [] : [[table, names]];
  });
}

/** Lists the columns that are searched for wrong moments, by table. */
export function repairedColumns(): [table: string, columns: string[]][] {
  return columnsOf((rule, name) => (rule === "shifted" || rule === "placed") && !mayCome.has(name));
}

/** Lists the columns of which each moment is set back by itself, by table. */
export function shiftedColumns(): [table: string, columns: string[]][] {
  return columnsOf((rule) => rule === "shifted");
}
