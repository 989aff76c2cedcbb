import { quality } from "./data/company.ts";
import { runtimeSteps } from "./runtime-steps.ts";
import { createCurl, type Curl, type NextStep, quoted } from "./shell.ts";
import type { ActionNumbers } from "./steps/actions.ts";
import { type QualityHook, signatureHeader } from "./steps/quality.ts";
import type { Runtime } from "./steps/runtime.ts";
import type { Robots } from "./steps/service-accounts.ts";

/** What the commands are about. */
export interface Tour {
  /** Base address of the server. */
  url: string;
  org: string;
  robots: Robots;
  actions: ActionNumbers;
  hook: QualityHook;
  runtime: Runtime;
  /** A repo with builds. */
  repo: string;
  /** Unix seconds. */
  now: number;
}

const day = 24 * 3600;

function webhookCommand({ url, secret }: QualityHook, now: number): string {
  const body = JSON.stringify({
    serverUrl: quality.server,
    taskId: `by-hand-${Math.floor(now)}`,
    status: "SUCCESS",
    revision: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    project: {
      key: "by-hand",
      name: "By hand",
      url: `${quality.server}/dashboard?id=by-hand`,
    },
    qualityGate: { name: quality.gate, status: "OK", conditions: [] },
    properties: {},
  });
  const signature = `$(printf %s "$BODY" | openssl dgst -sha256 -hmac ${quoted(secret)} | sed 's/^.* //')`;
  return (
    `BODY=${quoted(body)}; curl -sS -H 'Content-Type: application/json' ` +
    `-H "${signatureHeader}: ${signature}" -d "$BODY" ${quoted(url)}`
  );
}

function buildSteps({ repo, now }: Tour, org: string, curl: Curl): NextStep[] {
  const window = { start_ts: String(Math.floor(now) - 90 * day), end_ts: String(Math.ceil(now) + day) };
  const builds = { repo_name: repo, ...window };
  return [
    {
      title: `What ${repo} built in the last 90 days`,
      command: curl(`/builds/${org}`, { query: { ...builds, per_page: "5" } }),
    },
    {
      title: "When it was built, for a chart",
      command: curl(`/builds/${org}/statistics`, { query: builds }),
    },
    { title: "Every tag a repo has", command: curl(`/repos/${org}/tags`) },
  ];
}

function lastSteps(tour: Tour, org: string, curl: Curl): NextStep[] {
  const { robots, hook, actions } = tour;
  const { account, keyId } = robots.explorer;
  const deliveries = `/integrations/${org}/quality/deliveries`;
  return [
    {
      title: "The key these commands use",
      command: curl(`/service-accounts/${org}/${account}/api-keys/${keyId}`),
    },
    {
      title: "Remove a notification rule nobody needs",
      command: curl(`/actions/${org}/${actions.unneeded}`, { method: "DELETE" }),
    },
    {
      title: "Process a quality delivery again",
      command: curl(`${deliveries}/${hook.deliveryId}/replay`, { method: "POST" }),
    },
    {
      title: "Send a quality delivery, signed here in the shell",
      command: webhookCommand(hook, tour.now),
    },
  ];
}

/** Makes commands to try next, each of one line, which work exactly as they are. */
export function nextSteps(tour: Tour): NextStep[] {
  const { url, repo, runtime, actions } = tour;
  const org = encodeURIComponent(tour.org);
  const curl = createCurl(url, tour.robots.explorer.key);
  const clusters = {
    type: "K8S",
    tag: "stage:prod",
    sort: "last_modified_at",
    sort_direction: "desc",
    per_page: "5",
  };
  return [
    {
      title: "Clusters of production, the latest change first",
      command: curl(`/environments/${org}`, { query: clusters }),
    },
    ...runtimeSteps({ url, org, runtime, repo, onCall: actions.onCall }, curl),
    ...buildSteps(tour, org, curl),
    ...lastSteps(tour, org, curl),
  ];
}
