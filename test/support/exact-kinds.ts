import { hardToKeep } from "./exact.ts";

/** A body as text: what JSON.stringify would write, with `raw` members put in as they are. */
export function bodyText(plain: Record<string, unknown>, raw: Record<string, string>): string {
  const members = Object.entries(raw).map(([key, text]) => `"${key}":${text}`);
  return `${JSON.stringify(plain).slice(0, -1)},${members.join(",")}}`;
}

/** A kind of attestation, with what is particular to it. */
export interface Kind {
  kind: string;
  plain?: Record<string, unknown>;
  /** Members that have to come back as they are, and the names they come back under. */
  raw: Record<string, string>;
  shown?: Record<string, string>;
}

const number = "0.12345678901234567890123";
/** One of each kind but custom ones. */
export const kinds: Kind[] = [
  { kind: "generic", plain: { is_compliant: true }, raw: {} },
  {
    kind: "junit",
    raw: {
      junit_results: `[{"name":"a","failures":0,"errors":0,"skipped":0,"total":1.0,"duration":${number}}]`,
    },
  },
  {
    kind: "snyk",
    raw: {
      snyk_results: `{"schema_version":1,"tool":{"version":"1","name":"x"},"results":[{"high_count":0,"low_count":1e0,"medium_count":0,"low":[{"id":"1","message":"m","priority_score":${number}}]}]}`,
    },
    shown: { snyk_results: "processed_snyk_results" },
  },
  {
    kind: "sonar",
    raw: {
      sonar_results: `{"analysedAt":"x","revision":"y","project":{"key":"k","url":"u","more":${hardToKeep}},"own":${hardToKeep}}`,
    },
  },
  {
    kind: "jira",
    raw: {
      jira_results: `[{"issue_id":"A-1","issue_url":"u","issue_exists":true,"issue_fields":${hardToKeep}}]`,
    },
  },
  {
    kind: "pull_request",
    plain: { git_provider: "github" },
    raw: {
      pull_requests: `[{"url":"u","state":"merged","merge_commit":"","created_at":1786000000.100000000000}]`,
    },
  },
  {
    kind: "system",
    plain: { type_name: "decision", control: "SC-1" },
    raw: { attestation_data: `{"is_compliant":true,"why":${hardToKeep}}` },
  },
  {
    kind: "override",
    plain: { reason: "r", new_compliance_status: true, original_attestation_type: "generic" },
    raw: {},
  },
];

/** Members that a text does not have as they were written. */
export function lost(
  where: string,
  text: string,
  raw: Record<string, string>,
  shown: Record<string, string> = {},
): string[] {
  return Object.entries(raw).flatMap(([key, value]) => {
    const name = shown[key] ?? key;
    const found = [":", ": ", " : "].some((colon) => text.includes(`"${name}"${colon}${value}`));
    return found ? [] : [`${where} lost ${name}: ${value} in ${text}`];
  });
}
