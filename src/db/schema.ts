/**
 * Generated from the migrations by `npm run db:types`.
 * Please do not edit it manually.
 */

import type { ColumnType } from "kysely";
import type { JsonColumn, TimestampColumn } from "./columns.ts";

export type ArrayType<T> = ArrayTypeImpl<T> extends (infer U)[]
  ? U[]
  : ArrayTypeImpl<T>;

export type ArrayTypeImpl<T> = T extends ColumnType<infer S, infer I, infer U>
  ? ColumnType<S[], I[], U[]>
  : T[];

export type Generated<T> = T extends ColumnType<infer S, infer I, infer U>
  ? ColumnType<S, I | undefined, U>
  : ColumnType<T, T | undefined, T>;

export type Timestamp = ColumnType<Date, Date | string, Date | string>;

export interface ActionEnvironments {
  action_number: number;
  environment_id: string;
  org_id: string;
  position: number;
}

export interface ActionFlows {
  action_number: number;
  flow_id: string;
  org_id: string;
  position: number;
}

export interface Actions {
  created_at: TimestampColumn;
  created_by_name: string;
  last_modified_at: TimestampColumn;
  name: string;
  number: number;
  org_id: string;
  target_secrets: Buffer;
  targets: JsonColumn;
  triggers: string[];
  type: string;
}

export interface ActionTargetOutcomes {
  action_number: number;
  last_failure_at: TimestampColumn | null;
  last_success_at: TimestampColumn | null;
  org_id: string;
  position: number;
}

export interface AllowlistEntries {
  artifact_name: string;
  created_at: TimestampColumn;
  created_by_id: string | null;
  created_by_name: string;
  description: string;
  environment_id: string;
  fingerprint: string;
  id: string;
  org_id: string;
  removed_at: TimestampColumn | null;
  removed_by_name: string | null;
}

export interface ApiKeyFormerSecrets {
  ends_at: TimestampColumn;
  key_hash: Buffer;
  key_id: string;
}

export interface ApiKeys {
  created_at: TimestampColumn;
  created_by_name: string;
  description: string;
  expires_at: TimestampColumn | null;
  grace_period_expires_at: TimestampColumn | null;
  id: string;
  key_hash: Buffer;
  last_used_at: TimestampColumn | null;
  org_id: string | null;
  revoked_at: TimestampColumn | null;
  rotated_at: TimestampColumn | null;
  service_account_id: string | null;
  user_id: string | null;
}

export interface Artifacts {
  annotations: JsonColumn | null;
  build_url: string;
  commit_url: string;
  commits_list: JsonColumn | null;
  created_at: TimestampColumn;
  created_by_name: string;
  description: string | null;
  external_urls: JsonColumn | null;
  filename: string;
  fingerprint: string;
  flow_id: string;
  git_commit: string | null;
  git_commit_info: JsonColumn | null;
  id: string;
  org_id: string;
  repo_id: string | null;
  repo_url: string | null;
  template_reference_name: string;
  trail_id: string;
  user_data: JsonColumn | null;
}

export interface AttestationHeads {
  first_id: string;
  kind: string;
  latest_id: string;
  latest_plain_id: string | null;
  name: string;
  org_id: string;
  place: string;
  trail_id: string;
  type: string;
}

export interface Attestations {
  annotations: JsonColumn | null;
  artifact_fingerprint: string | null;
  control_identifier: string | null;
  control_version: number | null;
  created_at: TimestampColumn;
  created_by_name: string;
  description: string | null;
  evidence_id: string | null;
  external_urls: JsonColumn | null;
  flow_id: string;
  git_commit: string | null;
  git_commit_info: JsonColumn | null;
  id: string;
  is_compliant: boolean;
  is_override: Generated<boolean>;
  name: string;
  org_id: string;
  origin_url: string | null;
  repo_id: string | null;
  target_artifacts: string[] | null;
  trail_id: string;
  type: string;
  type_data: Generated<JsonColumn>;
  user_data: JsonColumn | null;
}

export interface AttestationTypes {
  archived_at: TimestampColumn | null;
  created_at: TimestampColumn;
  created_by_name: string;
  id: string;
  last_modified_at: TimestampColumn;
  name: string;
  org_id: string;
}

export interface AttestationTypeVersions {
  created_at: TimestampColumn;
  created_by_name: string;
  description: string | null;
  evaluator: JsonColumn | null;
  org_id: string;
  summary: JsonColumn | null;
  type_id: string;
  type_schema: JsonColumn | null;
  version: number;
}

export interface AuditLog {
  action: string;
  actor_id: string | null;
  actor_kind: string;
  actor_name: string;
  api_key_id: string | null;
  occurred_at: TimestampColumn;
  org_id: string;
  request_digest: Buffer | null;
  request_id: string;
  resource: string;
  resource_type: string;
  seq: number;
}

export interface Builds {
  artifact_id: string;
  created_at: TimestampColumn;
  fingerprint: string;
  flow_id: string;
  json: string;
  number: number;
  org_id: string;
  repo_id: string | null;
  repo_number: number | null;
}

export interface Controls {
  archived: Generated<boolean>;
  created_at: TimestampColumn;
  created_by_name: string;
  description: string | null;
  id: string;
  identifier: string;
  links: JsonColumn;
  name: string;
  org_id: string;
  tags: Generated<JsonColumn>;
  version: number;
}

export interface ControlVersions {
  archived: boolean;
  control_id: string;
  created_at: TimestampColumn;
  created_by_name: string;
  description: string | null;
  links: JsonColumn;
  name: string;
  org_id: string;
  status: string;
  version: number;
}

export interface EnvironmentCounts {
  archived: boolean;
  count: number;
  org_id: string;
  type: string;
}

export interface EnvironmentFormerNames {
  environment_id: string;
  name: string;
  org_id: string;
}

export interface EnvironmentLineage {
  commit_url: string | null;
  compliance_state: string | null;
  environment_id: string;
  fingerprint: string;
  flow_id: string;
  git_commit: string | null;
  name: string;
  org_id: string;
  started_index: number;
  template_reference_name: string;
  trail_name: string | null;
}

export interface EnvironmentMembers {
  logical_id: string;
  member_id: string;
  org_id: string;
  position: number;
}

export interface EnvironmentPolicies {
  environment_id: string;
  id: string;
  org_id: string;
  policy_id: string;
}

export interface EnvironmentReports {
  artifact_count: number;
  environment_id: string;
  judged_by: string;
  latest_at: TimestampColumn;
  learned_limit: number | null;
  org_id: string;
  report_digest: string;
  report_gaps: Generated<number[]>;
  seen_seq: number;
  snapshot_count: number;
}

export interface Environments {
  archived: Generated<boolean>;
  archived_at: TimestampColumn | null;
  archived_by_id: string | null;
  archived_by_kind: string | null;
  archived_by_name: string | null;
  created_at: TimestampColumn;
  description: Generated<string>;
  id: string;
  json: Generated<string>;
  last_changed_at: TimestampColumn | null;
  last_modified_at: TimestampColumn;
  last_reported_at: TimestampColumn | null;
  name: string;
  org_id: string;
  original_name: string | null;
  policies: Generated<string>;
  silence_limit: number | null;
  space_id: string | null;
  state: boolean | null;
  tags: Generated<JsonColumn>;
  type: string;
}

export interface EnvironmentSilences {
  began_at: TimestampColumn;
  ended_at: TimestampColumn | null;
  environment_id: string;
  noticed_at: TimestampColumn | null;
  org_id: string;
}

export interface Evidence {
  content_type: string;
  created_at: TimestampColumn;
  filename: string;
  id: string;
  org_id: string;
  sha256: string;
  size: number;
}

export interface FlowActivity {
  active_minute: Timestamp;
  artifact_id: string | null;
  flow_id: string;
  json: string;
  last_modified_at: TimestampColumn;
  org_id: string;
  repo_id: string | null;
  repo_url: string | null;
  state: string;
  trail_id: string;
}

export interface FlowCounts {
  count: number;
  org_id: string;
}

export interface FlowFormerNames {
  flow_id: string;
  name: string;
  org_id: string;
}

export interface Flows {
  archived_at: TimestampColumn | null;
  created_at: TimestampColumn;
  created_by_name: string;
  description: Generated<string>;
  id: string;
  json_head: Generated<string>;
  json_tail: Generated<string>;
  json_template: Generated<string>;
  name: string;
  org_id: string;
  original_name: string | null;
  repo_url: string | null;
  space_id: string | null;
  tags: Generated<JsonColumn>;
  template: string;
  template_id: string;
  visibility: Generated<string>;
}

export interface InstanceSettings {
  name: string;
  value: string;
}

export interface JobEnds {
  alone_with: string | null;
  ends: number;
  job_id: number;
  last_end_at: Generated<TimestampColumn>;
  set_aside_at: TimestampColumn | null;
  task: string;
  was_alone: boolean;
}

export interface JobWorkers {
  id: string;
  server: string;
  started_at: Generated<TimestampColumn>;
}

export interface MembershipEvents {
  changed_by_name: string;
  event_type: string;
  id: string;
  occurred_at: TimestampColumn;
  org_id: string;
  previous_role: string | null;
  role: string | null;
  source: string;
  user_id: string;
  user_name: string;
}

export interface Memberships {
  created_at: TimestampColumn;
  org_id: string;
  role: string;
  user_id: string;
}

export interface Migrations {
  applied_at: Generated<TimestampColumn>;
  checksum: string;
  name: string;
}

export interface NotificationDeliveries {
  action_number: number;
  attempts: Generated<number>;
  created_at: TimestampColumn;
  error: string | null;
  id: string;
  last_attempt_at: TimestampColumn | null;
  next_attempt_at: TimestampColumn | null;
  occurrence: JsonColumn;
  org_id: string;
  replay_of: string | null;
  response_status: number | null;
  status: Generated<string>;
  target_position: number;
  target_type: string;
}

export interface NotificationKeys {
  generation: number;
  org_id: string;
  rotated_at: TimestampColumn;
}

export interface Organizations {
  created_at: TimestampColumn;
  description: Generated<string>;
  display_name: Generated<string>;
  id: string;
  kind: string;
  last_modified_at: TimestampColumn;
  name: string;
  owner_user_id: string | null;
  public: Generated<boolean>;
}

export interface OrgCounters {
  action_number: Generated<number>;
  audit_seq: Generated<number>;
  build_number: Generated<number>;
  last_build_at: Generated<TimestampColumn>;
  org_id: string;
}

export interface Policies {
  created_at: TimestampColumn;
  created_by_name: string;
  description: string;
  id: string;
  last_modified_at: TimestampColumn;
  name: string;
  org_id: string;
  text_bytes: number;
  text_digest: Buffer;
  version: number;
}

export interface PolicyControls {
  control_identifier: string;
  org_id: string;
  policy_id: string;
}

export interface PolicyEvents {
  created_at: TimestampColumn;
  created_by_name: string;
  data: JsonColumn;
  id: string;
  org_id: string;
  policy_id: string;
  type: string;
}

export interface PolicyVersions {
  comment: string;
  created_at: TimestampColumn;
  created_by_name: string;
  id: string;
  org_id: string;
  policy_id: string;
  text: string;
  version: number;
}

export interface QualityDeliveries {
  attestation_id: string | null;
  authenticated_by: string;
  body: Buffer;
  body_sha256: Buffer;
  flow_name: string | null;
  flow_name_options: JsonColumn;
  id: string;
  org_id: string;
  processed_at: TimestampColumn | null;
  project_key: string | null;
  reason: string | null;
  received_at: TimestampColumn;
  replay_of: string | null;
  reported_by_name: string;
  status: string;
  task_id: string | null;
  trail_name: string | null;
}

export interface QualityIntegrations {
  created_at: TimestampColumn;
  created_by_name: string;
  flow_name_base: string;
  flow_name_prefix: string;
  flow_name_suffix: string;
  hook_uid: string;
  last_modified_at: TimestampColumn;
  org_id: string;
  secret: Buffer;
}

export interface RepoCounters {
  build_number: number;
  org_id: string;
  repo_id: string;
}

export interface Repos {
  additional_info: JsonColumn | null;
  created_at: TimestampColumn;
  description: string | null;
  id: string;
  last_modified_at: TimestampColumn;
  name: string;
  namespace_path: string[] | null;
  org_id: string;
  provider: string | null;
  repo_id: string | null;
  tags: Generated<JsonColumn>;
  url: string;
  vcs_instance: string | null;
}

export interface ServiceAccounts {
  archived_at: TimestampColumn | null;
  created_at: TimestampColumn;
  creating_user_id: string;
  creating_user_name: string;
  description: Generated<string>;
  display_name: string;
  for_webhook: Generated<boolean>;
  id: string;
  name: string;
  org_id: string;
  privilege: string;
}

export interface SilenceWatch {
  looked_at: TimestampColumn;
  one: Generated<boolean>;
  since: TimestampColumn;
}

export interface SnapshotArtifacts {
  compliant: boolean | null;
  created_at: TimestampColumn;
  decisions_digest: string;
  digest: string;
  doc: string;
  environment_id: string;
  event_number: number | null;
  facts: string;
  findings: string;
  fingerprint: string;
  first_index: number;
  flows: JsonColumn;
  follows: string[];
  id: number;
  last_index: number | null;
  name: string;
  now: number;
  org_id: string;
  provenance: ArrayType<string>;
  repo_ids: ArrayType<string>;
  running: JsonColumn;
  type: string;
  was: number;
}

export interface SnapshotDecisions {
  decisions: string;
  digest: string;
  environment_id: string;
  org_id: string;
}

export interface Snapshots {
  applied_policies: JsonColumn;
  artifact_compliance_count: JsonColumn;
  artifacts: ArrayType<number>;
  cause: string;
  compliant: boolean | null;
  created_at: TimestampColumn;
  environment_id: string;
  event_count: number;
  index: number;
  org_id: string;
  type: string;
}

export interface Spaces {
  created_at: TimestampColumn;
  id: string;
  last_modified_at: TimestampColumn;
  name: string;
  org_id: string;
  parent_id: string | null;
}

export interface TimeMarks {
  id_offset: Generated<number>;
  one: Generated<boolean>;
  recorded_at: TimestampColumn | null;
}

export interface TrailCompliance {
  artifact_states: JsonColumn;
  evaluated_at: TimestampColumn | null;
  org_id: string;
  own_digest: string | null;
  own_state: string;
  state: string;
  status: JsonColumn;
  trail_id: string;
}

export interface TrailEvents {
  data: JsonColumn;
  id: string;
  occurred_at: TimestampColumn;
  org_id: string;
  trail_id: string;
  type: string;
}

export interface Trails {
  created_at: TimestampColumn;
  created_by_name: string;
  description: Generated<string>;
  external_urls: JsonColumn | null;
  flow_id: string;
  git_commit_info: JsonColumn | null;
  id: string;
  last_modified_at: TimestampColumn;
  name: string;
  org_id: string;
  origin_url: string | null;
  repo_ids: Generated<ArrayType<string>>;
  template: string;
  template_id: string;
  user_data: Generated<JsonColumn>;
}

export interface Users {
  created_at: TimestampColumn;
  default_org_id: string | null;
  deleted_at: TimestampColumn | null;
  disabled_at: TimestampColumn | null;
  display_name: string | null;
  email: string | null;
  id: string;
  instance_admin: Generated<boolean>;
  name: string;
}

export interface DB {
  action_environments: ActionEnvironments;
  action_flows: ActionFlows;
  action_target_outcomes: ActionTargetOutcomes;
  actions: Actions;
  allowlist_entries: AllowlistEntries;
  api_key_former_secrets: ApiKeyFormerSecrets;
  api_keys: ApiKeys;
  artifacts: Artifacts;
  attestation_heads: AttestationHeads;
  attestation_type_versions: AttestationTypeVersions;
  attestation_types: AttestationTypes;
  attestations: Attestations;
  audit_log: AuditLog;
  builds: Builds;
  control_versions: ControlVersions;
  controls: Controls;
  environment_counts: EnvironmentCounts;
  environment_former_names: EnvironmentFormerNames;
  environment_lineage: EnvironmentLineage;
  environment_members: EnvironmentMembers;
  environment_policies: EnvironmentPolicies;
  environment_reports: EnvironmentReports;
  environment_silences: EnvironmentSilences;
  environments: Environments;
  evidence: Evidence;
  flow_activity: FlowActivity;
  flow_counts: FlowCounts;
  flow_former_names: FlowFormerNames;
  flows: Flows;
  instance_settings: InstanceSettings;
  job_ends: JobEnds;
  job_workers: JobWorkers;
  membership_events: MembershipEvents;
  memberships: Memberships;
  migrations: Migrations;
  notification_deliveries: NotificationDeliveries;
  notification_keys: NotificationKeys;
  org_counters: OrgCounters;
  organizations: Organizations;
  policies: Policies;
  policy_controls: PolicyControls;
  policy_events: PolicyEvents;
  policy_versions: PolicyVersions;
  quality_deliveries: QualityDeliveries;
  quality_integrations: QualityIntegrations;
  repo_counters: RepoCounters;
  repos: Repos;
  service_accounts: ServiceAccounts;
  silence_watch: SilenceWatch;
  snapshot_artifacts: SnapshotArtifacts;
  snapshot_decisions: SnapshotDecisions;
  snapshots: Snapshots;
  spaces: Spaces;
  time_marks: TimeMarks;
  trail_compliance: TrailCompliance;
  trail_events: TrailEvents;
  trails: Trails;
  users: Users;
}
