import { type AuditKind, isFailure, kindOf, type Severity, severityOf, verbOf } from "./kinds.ts";
import { type AuditRecord, milliseconds } from "./record.ts";

/** The version of the Open Cybersecurity Schema Framework that is written. */
const ocsfVersion = "1.3.0";

const categories = {
  iam: [3, "Identity & Access Management"],
  application: [6, "Application Activity"],
} as const;

const classes = {
  authentication: { uid: 3002, name: "Authentication", category: categories.iam },
  account: { uid: 3001, name: "Account Change", category: categories.iam },
  api: { uid: 6003, name: "API Activity", category: categories.application },
} as const satisfies Record<AuditKind, object>;

const severities = {
  informational: [1, "Informational"],
  low: [2, "Low"],
  medium: [3, "Medium"],
  high: [4, "High"],
} as const satisfies Record<Severity, readonly [number, string]>;

/** Number and name of what was done, as its class counts it. */
type Activity = readonly [number, string];

/** What the class has no number for is told by its name. */
const other = ({ action }: AuditRecord): Activity => [99, action];

function authenticationActivity(record: AuditRecord): Activity {
  const { action, resource_type } = record;
  if (action === "sign_out" || action === "session_revoked") return [2, "Logoff"];
  if (action === "break_glass") return other(record);
  if (resource_type === "session" && verbOf(record) === "delete") return [2, "Logoff"];
  return [1, "Logon"];
}

function accountActivity(record: AuditRecord): Activity {
  const { action, resource_type } = record;
  if (action === "key_expired") return [5, "Disable"];
  if (action === "role_mapped") return [7, "Attach Policy"];
  const verb = verbOf(record);
  if (resource_type === "member") return verb === "delete" ? [8, "Detach Policy"] : [7, "Attach Policy"];
  if (resource_type !== "user" && resource_type !== "service_account") return other(record);
  if (verb === "create") return [1, "Create"];
  return verb === "delete" ? [6, "Delete"] : other(record);
}

const apiActivities: Partial<Record<ReturnType<typeof verbOf>, Activity>> = {
  create: [1, "Create"],
  read: [2, "Read"],
  update: [3, "Update"],
  delete: [4, "Delete"],
};

function activityOf(kind: AuditKind, record: AuditRecord): Activity {
  if (kind === "authentication") return authenticationActivity(record);
  if (kind === "account") return accountActivity(record);
  return apiActivities[verbOf(record)] ?? other(record);
}

/** Kinds of users: people, and what acts by itself. */
const userTypes = {
  user: [1, "User"],
  service_account: [3, "System"],
  integration: [3, "System"],
  system: [3, "System"],
} as const;

function actorUser({ actor, actor_id, actor_kind, api_key_id }: AuditRecord): object {
  const [type_id, type] = userTypes[actor_kind];
  return {
    name: actor,
    ...(actor_id === null ? {} : { uid: actor_id }),
    ...(api_key_id === null ? {} : { credential_uid: api_key_id }),
    type_id,
    type,
  };
}

/** Where a request came from; the program itself where there was none. */
function sourceOf({ address }: AuditRecord): object {
  return address === null ? { svc_name: "waybill" } : { ip: address };
}

/** What its class asks for beside what all events have. */
function classFields(kind: AuditKind, record: AuditRecord): object {
  const { action, request_id, resource, resource_type, org } = record;
  const actor = { user: actorUser(record) };
  const src_endpoint = sourceOf(record);
  if (kind === "authentication")
    return {
      actor,
      src_endpoint,
      // The log of the instance names who signed in as what it is about.
      user: org === null && resource !== "" ? { name: resource } : actorUser(record),
      service: { name: "Waybill" },
    };
  if (kind === "account")
    return { actor, src_endpoint, user: { name: resource, type_id: 99, type: resource_type } };
  return {
    actor,
    src_endpoint,
    api: { operation: action, request: { uid: request_id }, service: { name: "Waybill" } },
    resources: [{ name: resource, type: resource_type }],
  };
}

/**
 * Maps an entry to an event of OCSF: Authentication (3002), Account Change (3001) or API Activity (6003). `unmapped` has the
 * whole entry.
 * @param version of the program.
 */
export function ocsfEvent(record: AuditRecord, version: string): object {
  const kind = kindOf(record);
  const { uid: class_uid, name: class_name, category } = classes[kind];
  const [category_uid, category_name] = category;
  const [activity_id, activity_name] = activityOf(kind, record);
  const [severity_id, severity] = severities[severityOf(record)];
  const [status_id, status] = isFailure(record) ? [2, "Failure"] : [1, "Success"];
  return {
    activity_id,
    activity_name,
    category_uid,
    category_name,
    class_uid,
    class_name,
    type_uid: class_uid * 100 + activity_id,
    type_name: `${class_name}: ${activity_id === 99 ? "Other" : activity_name}`,
    severity_id,
    severity,
    status_id,
    status,
    time: milliseconds(record.occurred_at),
    metadata: {
      version: ocsfVersion,
      product: { name: "Waybill", vendor_name: "Waybill", version },
      uid: `${record.org ?? ""}#${record.seq}`,
      sequence: record.seq,
      log_name: record.org ?? "instance",
      event_code: record.action,
      correlation_uid: record.request_id,
    },
    ...classFields(kind, record),
    unmapped: record,
  };
}
