/** Where commands go. */
export interface CommandPlace {
  /** Public address of the server, without a slash at its end. */
  server: string;
  org: string;
}

/** The same deed for two programs. */
export interface Command {
  curl: string;
  /** For the command-line client; undefined where it has none. */
  client: string | undefined;
  /** What has to be put in by hand before it says what is true. */
  fillIn?: string | undefined;
}

/** Quotes a text as one word of a POSIX shell, where it needs that. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Writes lines that are one command. */
export const continued = (lines: readonly string[]): string => lines.join(" \\\n  ");

/** What a request has beside its address. */
interface Request {
  method?: string;
  /** Below `/api/v2`, each segment already encoded. */
  path: string;
  json?: unknown;
  /** The part of a form that holds JSON, by its name. */
  form?: Readonly<Record<string, unknown>>;
}

/** Writes a request for curl; the key comes from the environment. */
export function curlCommand(
  { server }: Pick<CommandPlace, "server">,
  { method, path, json, form }: Request,
): string {
  const verb = method === undefined || method === "GET" ? "" : `-X ${method} `;
  const body =
    json === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(json))}`];
  const parts = Object.entries(form ?? {}).map(
    ([name, value]) => `--form-string ${quoted(`${name}=${JSON.stringify(value)}`)}`,
  );
  return continued([
    `curl -sS ${verb}${quoted(`${server}/api/v2${path}`)}`,
    '-H "Authorization: Bearer $WAYBILL_KEY"',
    ...body,
    ...parts,
  ]);
}

/** Writes a text file as a part of a form for curl: only what has a name of its own counts as a file. */
export function filePart(name: string, file: string, text: string): string {
  const content = text.replaceAll(/["\\]/g, String.raw`\$&`);
  return `-F ${quoted(`${name}="${content}";filename=${file}`)}`;
}

type Flags = Readonly<Record<string, string | undefined>>;

/** Writes a command for the command-line client; flags that are undefined are left out. */
export function clientCommand({ server, org }: CommandPlace, words: string, flags: Flags): string {
  const given = Object.entries(flags)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${name} ${quoted(String(value))}`);
  return continued([
    `kosli ${words}`,
    ...given,
    `--host ${quoted(server)} --org ${quoted(org)} --api-token "$WAYBILL_KEY"`,
  ]);
}

/** Stands for a fingerprint that is not known yet. */
export const sampleFingerprint = "0".repeat(64);
/** Stands for a commit that is not known yet; nothing but zeros would mean that there is none. */
export const sampleCommit = "0123456789abcdef0123456789abcdef01234567";

/** An attestation that is asked for. */
export interface WantedAttestation {
  flow_name: string;
  trail_name: string;
  /** Undefined for one of the trail itself, and of an artifact that is yet to be reported. */
  artifact_fingerprint?: string | undefined;
  /** Name in the template of an artifact that is yet to be reported, and the commit it is going to be reported with. */
  target?: { artifact_name: string; git_commit: string } | undefined;
  /** `*` when any will do; so is the type. */
  attestation_name: string;
  attestation_type: string;
  /** The control a decision is about. */
  for_control?: string | undefined;
}

/** How a type of attestation is reported: what complies, by which command, and what is a sample in it. */
interface Kind {
  path: string;
  data: Readonly<Record<string, unknown>>;
  words?: string;
  flags?: Flags;
  fillIn?: string;
}

const kinds: Readonly<Record<string, Kind>> = {
  generic: { path: "generic", data: { is_compliant: true }, words: "attest generic", flags: {} },
  junit: {
    path: "junit",
    data: {
      junit_results: [{ name: "suite", failures: 0, errors: 0, skipped: 0, total: 1, duration: 1.5 }],
    },
    words: "attest junit",
    flags: { "results-dir": "test-results" },
    fillIn: "the test results",
  },
  snyk: {
    path: "snyk",
    data: {
      snyk_results: {
        schema_version: 1,
        tool: { name: "Snyk", version: "1.0" },
        results: [{ low_count: 0, medium_count: 0, high_count: 0 }],
      },
    },
    words: "attest snyk",
    flags: { "scan-results": "snyk.json" },
    fillIn: "what the scan found",
  },
  sonar: {
    path: "sonar",
    data: {
      sonar_results: {
        analysedAt: "2026-01-01T00:00:00+0000",
        revision: "0000000000000000000000000000000000000000",
        project: { key: "project" },
        qualityGate: { status: "OK", conditions: [] },
      },
    },
    words: "attest sonar",
    flags: { "sonar-working-dir": ".scannerwork" },
    fillIn: "what the analysis says",
  },
  jira: {
    path: "jira",
    data: {
      jira_results: [
        { issue_id: "ABC-1", issue_url: "https://jira.example/browse/ABC-1", issue_exists: true },
      ],
    },
    words: "attest jira",
    flags: { "jira-base-url": "https://jira.example" },
    fillIn: "the issues",
  },
  pull_request: {
    path: "pull_request",
    data: {
      git_provider: "github",
      pull_requests: [
        { url: "https://github.example/org/repo/pull/1", state: "MERGED", merge_commit: "", approvers: [] },
      ],
    },
    words: "attest pullrequest github",
    flags: { "github-org": "org", repository: "repo", commit: "HEAD" },
    fillIn: "the pull requests",
  },
  decision: {
    path: "system",
    data: { type_name: "decision", attestation_data: { is_compliant: true } },
    fillIn: "the decision",
  },
};

function customKind(type_name: string): Kind {
  return {
    path: "custom",
    data: { type_name, attestation_data: {} },
    words: "attest custom",
    flags: { type: type_name, "attestation-data": "data.json" },
    fillIn: "the data that this type asks for",
  };
}

const anyKind: Kind = { path: "generic", data: { is_compliant: true }, words: "attest generic", flags: {} };

function kindOf(type: string): Kind {
  if (type.startsWith("custom:")) return customKind(type.slice("custom:".length));
  return kinds[type.replace(/^system:/, "")] ?? anyKind;
}

/** Says for both programs what an attestation is about: an artifact, one that is going to be reported with a commit, or the trail. */
function subjectOf({ artifact_fingerprint, target }: WantedAttestation): {
  data: object;
  prefix: string;
  flags: Flags;
} {
  if (target === undefined)
    return { data: { artifact_fingerprint }, prefix: "", flags: { fingerprint: artifact_fingerprint } };
  const { artifact_name, git_commit } = target;
  return {
    data: { target_artifacts: [artifact_name], git_commit_info: { sha1: git_commit } },
    prefix: `${artifact_name}.`,
    flags: { commit: git_commit },
  };
}

/** Joins what has to be put in by hand. */
function fillInWords(...parts: readonly (string | undefined)[]): string | undefined {
  const given = parts.filter((part) => part !== undefined);
  return given.length === 0 ? undefined : given.join(" and ");
}

/** Writes how an attestation is reported such that it complies. */
export function attestationCommand(place: CommandPlace, wanted: WantedAttestation): Command {
  const { flow_name, trail_name, target, attestation_name: asked, attestation_type } = wanted;
  const { path, data, words, flags, fillIn } = kindOf(attestation_type);
  const attestation_name = asked === "*" ? path.replace("_", "-") : asked;
  const segments = [place.org, flow_name, "trail", trail_name, path].map(encodeURIComponent);
  const control = path === "system" ? { control: wanted.for_control } : {};
  const subject = subjectOf(wanted);
  return {
    curl: curlCommand(place, {
      method: "POST",
      path: `/attestations/${segments.join("/")}`,
      form: { data_json: { attestation_name, ...subject.data, ...control, ...data } },
    }),
    client:
      words === undefined
        ? undefined
        : clientCommand(place, words, {
            name: `${subject.prefix}${attestation_name}`,
            flow: flow_name,
            trail: trail_name,
            ...flags,
            ...subject.flags,
          }),
    fillIn: fillInWords(fillIn, target?.git_commit === sampleCommit ? "the commit" : undefined),
  };
}

/** An artifact that is asked for. */
export interface WantedArtifact {
  /** Undefined for a flow that is yet to be chosen. */
  flow_name: string | undefined;
  trail_name?: string | undefined;
  fingerprint: string;
  filename: string;
  /** Its name in the template of the flow. */
  template_reference_name?: string | undefined;
  git_commit?: string | undefined;
}

/** Writes how an artifact is reported to a flow. */
export function artifactCommand(place: CommandPlace, wanted: WantedArtifact): Command {
  const { trail_name = "1", fingerprint, filename, template_reference_name, git_commit } = wanted;
  const flow = wanted.flow_name ?? "my-flow";
  const urls = { build_url: "https://ci.example/1", commit_url: "https://code.example/commit" };
  return {
    curl: curlCommand(place, {
      method: "POST",
      path: `/artifacts/${encodeURIComponent(place.org)}/${encodeURIComponent(flow)}`,
      json: { fingerprint, filename, trail_name, template_reference_name, git_commit, ...urls },
    }),
    client: clientCommand(place, `attest artifact ${quoted(filename)}`, {
      name: template_reference_name ?? "artifact",
      flow,
      trail: trail_name,
      fingerprint,
      commit: git_commit,
      "build-url": urls.build_url,
      "commit-url": urls.commit_url,
    }),
    fillIn: `${wanted.flow_name === undefined ? "flow, trail, " : ""}${fingerprint === sampleFingerprint ? "fingerprint, " : ""}build and commit`,
  };
}

const reporters: Readonly<Record<string, readonly [string, Flags]>> = {
  K8S: ["snapshot k8s", {}],
  ECS: ["snapshot ecs", { clusters: "my-cluster" }],
  S3: ["snapshot s3", { bucket: "my-bucket" }],
  lambda: ["snapshot lambda", { "function-names": "my-function" }],
  server: ["snapshot path", { name: "my-app", path: "/opt/my-app" }],
  docker: ["snapshot docker", {}],
  "azure-apps": ["snapshot azure", { "azure-resource-group-name": "my-group" }],
  "cloud-run": ["snapshot cloud-run", { project: "my-project", region: "europe-west1" }],
};

const sampleItems: Readonly<Record<string, object>> = {
  K8S: { podName: "my-pod", namespace: "default" },
  ECS: { taskArn: "my-task" },
  "azure-apps": { app_name: "my-app", app_kind: "app", digests_source: "logs" },
  "cloud-run": { kind: "service", serviceName: "my-service", revisionName: "my-service-1" },
};

/**
 * Writes how a reporter tells what runs in an environment; undefined for logical ones, whose members tell it.
 * @param now Unix seconds.
 * @param fingerprint of what runs there, in a report by hand.
 */
export function reporterCommand(
  place: CommandPlace,
  { name, type }: { name: string; type: string },
  now: number,
  fingerprint = sampleFingerprint,
): Command | undefined {
  const reporter = reporters[type];
  if (reporter === undefined) return undefined;
  const digests = { "my-artifact": fingerprint };
  const item = { ...sampleItems[type], digests, creationTimestamp: Math.floor(now) };
  return {
    curl: curlCommand(place, {
      method: "PUT",
      path: `/environments/${encodeURIComponent(place.org)}/${encodeURIComponent(name)}/report/${type}`,
      json: { artifacts: [item] },
    }),
    client: clientCommand(place, `${reporter[0]} ${quoted(name)}`, reporter[1]),
    fillIn: "everything that runs there",
  };
}

/** Writes how an environment is made. */
export function environmentCommand(place: CommandPlace, name: string, type: string): Command {
  return {
    curl: curlCommand(place, {
      method: "PUT",
      path: `/environments/${encodeURIComponent(place.org)}`,
      json: { name, type, description: "" },
    }),
    client: clientCommand(place, `create environment ${quoted(name)}`, { type }),
  };
}

const sampleTemplate = `version: 1
trail:
  attestations:
    - name: review
      type: pull_request
  artifacts:
    - name: app
      attestations:
        - name: unit-tests
          type: junit
`;

/** Writes how a flow is made. */
export function flowCommand(place: CommandPlace, name: string): Command {
  const data = quoted(`data_json=${JSON.stringify({ name, description: "" })}`);
  return {
    curl: continued([
      `curl -sS -X PUT ${quoted(`${place.server}/api/v2/flows/${encodeURIComponent(place.org)}/template_file`)}`,
      '-H "Authorization: Bearer $WAYBILL_KEY"',
      `--form-string ${data}`,
      filePart("template_file", "template.yml", sampleTemplate),
    ]),
    client: clientCommand(place, `create flow ${quoted(name)}`, { "template-file": "template.yml" }),
    fillIn: "what your trails need",
  };
}

/** Writes how a trail of a flow is begun. */
export function trailCommand(place: CommandPlace, flow: string, name: string): Command {
  return {
    curl: curlCommand(place, {
      method: "PUT",
      path: `/trails/${encodeURIComponent(place.org)}/${encodeURIComponent(flow)}`,
      form: { data_json: { name, description: "" } },
    }),
    client: clientCommand(place, `begin trail ${quoted(name)}`, { flow }),
  };
}
