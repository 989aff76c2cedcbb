import type { Robots } from "./steps/service-accounts.ts";
import type { QualityHook } from "./steps/quality.ts";
import { signatureHeader } from "./steps/quality.ts";

/** Something to try: a command for a POSIX shell, and what it shows. */
export interface NextStep {
  title: string;
  command: string;
}

/** What the commands are about. */
export interface Tour {
  /** Base address of the server. */
  url: string;
  org: string;
  robots: Robots;
  actionNumber: number;
  hook: QualityHook;
  /** A repo with builds. */
  repo: string;
  /** Unix seconds. */
  now: number;
}

/** A text as one word of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const day = 24 * 3600;

function webhookCommand({ url, secret }: QualityHook, now: number): string {
  const body = JSON.stringify({
    serverUrl: "https://quality.harborlight.example",
    taskId: `by-hand-${Math.floor(now)}`,
    status: "SUCCESS",
    revision: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    project: {
      key: "by-hand",
      name: "By hand",
      url: "https://quality.harborlight.example/dashboard?id=by-hand",
    },
    qualityGate: { name: "Harborlight way", status: "OK", conditions: [] },
    properties: {},
  });
  const signature = `$(printf %s "$BODY" | openssl dgst -sha256 -hmac ${quoted(secret)} | sed 's/^.* //')`;
  return (
    `BODY=${quoted(body)}; curl -sS -H 'Content-Type: application/json' ` +
    `-H "${signatureHeader}: ${signature}" -d "$BODY" ${quoted(url)}`
  );
}

/** Commands that work exactly as they are, each on a line of its own. */
export function nextSteps(tour: Tour): NextStep[] {
  const { org, robots, hook } = tour;
  const { key, account, keyId } = robots.explorer;
  const name = encodeURIComponent(org);
  const curl = (path: string, query: Record<string, string> = {}, method?: string): string => {
    // Colons and slashes may stand in a query as they are, and read better so.
    const search = new URLSearchParams(query).toString().replaceAll("%3A", ":").replaceAll("%2F", "/");
    const address = `${tour.url}/api/v2${path}${search === "" ? "" : `?${search}`}`;
    const verb = method === undefined ? "" : ` -X ${method}`;
    return `curl -sS${verb} -H ${quoted(`Authorization: Bearer ${key}`)} ${quoted(address)}`;
  };
  const window = {
    start_ts: String(Math.floor(tour.now) - 90 * day),
    end_ts: String(Math.ceil(tour.now) + day),
  };
  const builds = { repo_name: tour.repo, ...window };
  return [
    {
      title: "Clusters of production, the latest change first",
      command: curl(`/environments/${name}`, {
        type: "K8S",
        tag: "stage:prod",
        sort: "last_modified_at",
        sort_direction: "desc",
        per_page: "5",
      }),
    },
    {
      title: `What ${tour.repo} built in the last 90 days`,
      command: curl(`/builds/${name}`, { ...builds, per_page: "5" }),
    },
    { title: "When it was built, for a chart", command: curl(`/builds/${name}/statistics`, builds) },
    { title: "Every tag a repo has", command: curl(`/repos/${name}/tags`) },
    {
      title: "The key these commands use",
      command: curl(`/service-accounts/${name}/${account}/api-keys/${keyId}`),
    },
    {
      title: "Remove a notification rule nobody needs",
      command: curl(`/actions/${name}/${tour.actionNumber}`, {}, "DELETE"),
    },
    {
      title: "Process a quality delivery again",
      command: curl(`/integrations/${name}/quality/deliveries/${hook.deliveryId}/replay`, {}, "POST"),
    },
    {
      title: "Send a quality delivery, signed here in the shell",
      command: webhookCommand(hook, tour.now),
    },
  ];
}
