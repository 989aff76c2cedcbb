type Data = Readonly<Record<string, unknown>>;

/** Says whether a value is an object with keys. */
export function isData(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a list of objects; what is something else is left out. */
function dataIn(value: unknown): Data[] {
  return Array.isArray(value) ? value.filter(isData) : [];
}

function textIn(data: Data, key: string): string {
  const value = data[key];
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? value : "";
}

function numberIn(data: Data, key: string): number {
  const value = data[key];
  return typeof value === "number" ? value : 0;
}

/** Results of a suite of tests. */
export interface TestSuite {
  name: string;
  total: number;
  failures: number;
  errors: number;
  skipped: number;
  /** Seconds. */
  duration: number;
}

/** Reads the suites of an attestation of tests. */
export function testSuites(attestation: Data): TestSuite[] {
  return dataIn(attestation["junit_results"]).map((suite) => ({
    name: textIn(suite, "name"),
    total: numberIn(suite, "total"),
    failures: numberIn(suite, "failures"),
    errors: numberIn(suite, "errors"),
    skipped: numberIn(suite, "skipped"),
    duration: numberIn(suite, "duration"),
  }));
}

const severities = ["high", "medium", "low"] as const;
type Severity = (typeof severities)[number];

/** What a scan found. */
export interface Scan {
  tool: string;
  counts: Readonly<Record<Severity, number>>;
  /** The worst first; counts may be larger, because not all that is counted needs to be told. */
  issues: { severity: Severity; id: string; message: string; places: string }[];
}

/** Reads what the scan of an attestation found; undefined without one. */
export function scanOf(attestation: Data): Scan | undefined {
  const results = [attestation["processed_snyk_results"], attestation["snyk_results"]].find(isData);
  if (results === undefined) return undefined;
  const projects = dataIn(results["results"]);
  const sum = (severity: Severity): number =>
    projects.reduce((total, project) => total + numberIn(project, `${severity}_count`), 0);
  const tool = isData(results["tool"]) ? results["tool"] : {};
  return {
    tool: `${textIn(tool, "name")} ${textIn(tool, "version")}`.trim(),
    counts: { high: sum("high"), medium: sum("medium"), low: sum("low") },
    issues: severities.flatMap((severity) =>
      projects
        .flatMap((project) => dataIn(project[severity]))
        .map((issue) => ({
          severity,
          id: textIn(issue, "id"),
          message: textIn(issue, "message"),
          places: dataIn(issue["locations"])
            .map((place) => `${textIn(place, "uri")} ${textIn(place, "lines")}`.trim())
            .join(", "),
        })),
    ),
  };
}

/** The verdict of a quality gate. */
export interface QualityGate {
  project: string;
  url: string;
  gate: string;
  status: string;
  conditions: { metric: string; limit: string; value: string; isMet: boolean }[];
}

const operators: Readonly<Record<string, string>> = {
  LESS_THAN: "not below",
  GREATER_THAN: "not above",
  EQUALS: "not",
  NOT_EQUALS: "just",
};

/** Reads the quality gate of an attestation; undefined without one. */
export function qualityGateOf(attestation: Data): QualityGate | undefined {
  const results = attestation["sonar_results"];
  if (!isData(results)) return undefined;
  const gate = isData(results["qualityGate"]) ? results["qualityGate"] : {};
  const project = isData(results["project"]) ? results["project"] : {};
  return {
    project: textIn(project, "name") || textIn(project, "key"),
    url: textIn(project, "url"),
    gate: textIn(gate, "name"),
    status: textIn(gate, "status"),
    conditions: dataIn(gate["conditions"]).map((condition) => {
      const operator = textIn(condition, "operator");
      return {
        metric: textIn(condition, "metric"),
        limit: `${operators[operator] ?? operator} ${textIn(condition, "errorThreshold")}`,
        value: textIn(condition, "value"),
        isMet: textIn(condition, "status") !== "ERROR",
      };
    }),
  };
}

/** A change that somebody looked at. */
export interface PullRequest {
  url: string;
  state: string;
  title: string;
  author: string;
  approvers: string[];
}

/** Reads the pull requests of an attestation, with who approved them. */
export function pullRequestsOf(attestation: Data): PullRequest[] {
  return dataIn(attestation["pull_requests"]).map((one) => ({
    url: textIn(one, "url"),
    state: textIn(one, "state"),
    title: textIn(one, "title"),
    author: textIn(one, "author"),
    approvers: (Array.isArray(one["approvers"]) ? one["approvers"] : []).flatMap(
      (approver: unknown): string[] => {
        if (typeof approver === "string") return [approver];
        return isData(approver) ? [textIn(approver, "username")] : [];
      },
    ),
  }));
}

/** An issue that a change refers to. */
export interface Issue {
  id: string;
  url: string;
  exists: boolean;
  summary: string;
}

/** Reads the issues of an attestation. */
export function issuesOf(attestation: Data): Issue[] {
  return dataIn(attestation["jira_results"]).map((one) => ({
    id: textIn(one, "issue_id"),
    url: textIn(one, "issue_url"),
    exists: one["issue_exists"] === true,
    summary: isData(one["issue_fields"]) ? textIn(one["issue_fields"], "summary") : "",
  }));
}

/** A verdict that somebody gave in place of another. */
export interface Override {
  reason: string;
  original_type: string;
  /** Undefined when there was nothing to replace. */
  overridden_attestation_id: string | undefined;
}

/** Reads why an attestation was overridden; undefined for one that overrides nothing. */
export function overrideOf(attestation: Data): Override | undefined {
  if (!("overridden_attestation_id" in attestation)) return undefined;
  return {
    reason: textIn(attestation, "reason"),
    original_type: textIn(attestation, "original_attestation_type"),
    overridden_attestation_id: textIn(attestation, "overridden_attestation_id") || undefined,
  };
}

/** Reads the data of a decision or of a custom type, one line for each key; what has parts is told as JSON. */
export function dataLines(attestation: Data): [string, string][] {
  const data = attestation["attestation_data"];
  if (!isData(data)) return [];
  return Object.entries(data).map(([key, value]) => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
}

/** A rule of a custom type, and whether the data did what it asks. */
interface RuleOutcome {
  rule: string;
  passed: boolean;
  /** Why it did not pass; empty when it says no more. */
  error: string;
}

/** What an attestation of a custom type was judged by. */
export interface CustomJudgement {
  /** Name of the type. */
  type: string;
  version: number;
  rules: RuleOutcome[];
  data: unknown;
}

/** Reads by what an attestation of a custom type was judged; undefined for other types. */
export function customJudgementOf(attestation: Data): CustomJudgement | undefined {
  const type = /^custom:(.+)$/.exec(textIn(attestation, "attestation_type"))?.[1];
  if (type === undefined || !("type_version" in attestation)) return undefined;
  return {
    type,
    version: numberIn(attestation, "type_version"),
    rules: dataIn(attestation["rule_results"]).map((result) => ({
      rule: textIn(result, "rule"),
      passed: result["passed"] === true,
      error: textIn(result, "error"),
    })),
    data: attestation["attestation_data"],
  };
}

/** Reads the control that a decision is about; undefined for what is about none. */
export function controlOf(attestation: Data): string | undefined {
  return textIn(attestation, "control") || undefined;
}
