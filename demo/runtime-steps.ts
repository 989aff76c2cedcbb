import { type Curl, type NextStep, quoted } from "./shell.ts";
import type { Runtime } from "./steps/runtime.ts";

/** What the commands are about. */
export interface RuntimeTour {
  /** Base address of the server. */
  url: string;
  /** Name of the organization, as it stands in paths. */
  org: string;
  runtime: Runtime;
  /** A repo whose builds run. */
  repo: string;
  /** Number of the action for environments that do not comply. */
  onCall: number;
}

function previewCommand({ url, org, runtime }: RuntimeTour, curl: Curl): string {
  const policy = {
    _schema: `${url}/api/v2/schemas/environment-policy/v1`,
    artifacts: {
      provenance: { required: true },
      attestations: [{ type: "snyk", if: "${{ exists(flow) }}" }],
    },
  };
  const form = [
    `data_json=${JSON.stringify({ environments: [runtime.staging] })}`,
    "policy_file=@-;filename=stricter.yaml",
  ];
  // JSON is YAML, on one line.
  return `printf %s ${quoted(JSON.stringify(policy))} | ${curl(`/policies/${org}/preview`, { form })}`;
}

/** Makes commands that ask about what runs. */
export function runtimeSteps(tour: RuntimeTour, curl: Curl): NextStep[] {
  const { org, runtime, repo, onCall } = tour;
  const { prod, staging, next } = runtime;
  return [
    { title: `What runs in ${prod}, and what changed last`, command: curl(`/snapshots/${org}/${prod}/-1`) },
    {
      title: `How ${staging} and ${prod} differ`,
      command: curl(`/env-diff/${org}`, { query: { snappish1: staging, snappish2: prod } }),
    },
    {
      title: `What the last two changes of ${prod} came to`,
      command: curl(`/env-diff/${org}`, { query: { snappish1: `${prod}~2`, snappish2: prod } }),
    },
    {
      title: "Its log, the latest first",
      command: curl(`/environments/${org}/${prod}/events`, { query: { per_page: "5" } }),
    },
    {
      title: "Why it does not comply, and what would help",
      command: curl(`/environments/${org}/${prod}/explain`),
    },
    {
      title: `Whether a build that ${staging} runs may go to ${prod}`,
      command: curl(`/asserts/${org}/fingerprint/${next}`, { query: { environment_name: prod } }),
    },
    {
      title: "What was deployed where, how long after it was built",
      command: curl(`/deployments/${org}`, { query: { per_page: "5" } }),
    },
    { title: `What of ${repo} runs where`, command: curl(`/repos/${org}/live-artifacts/${repo}`) },
    { title: `What a stricter policy would make of ${staging}`, command: previewCommand(tour, curl) },
    {
      title: "What the people on call were told, or could not be",
      command: curl(`/actions/${org}/${onCall}/deliveries`, { query: { per_page: "5" } }),
    },
  ];
}
