import { readFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "yaml";

const chart = join(import.meta.dirname, "../../deploy/helm/waybill");
const text = (file: string): string => readFileSync(join(chart, file), "utf8");

/** What the chart says of how its pods replace one another, in seconds. */
export interface ChartRollout {
  replicas: number;
  maxSurge: number;
  maxUnavailable: number;
  drainSeconds: number;
  graceSeconds: number;
  readiness: { path: string; periodSeconds: number; timeoutSeconds: number; failureThreshold: number };
}

/** What Kubernetes takes where a probe does not say it. */
const probeDefaults = { periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3 };

/** Finds a part of a template that has no templating in it. @throws Error when it is not there. */
function plainPart(file: string, name: string): unknown {
  const found = new RegExp(`^( *)${name}:\\n(?:\\1 +.*\\n)+`, "m").exec(text(file));
  if (found === null) throw new Error(`${file} does not say ${name}`);
  return (parse(found[0]) as Record<string, unknown>)[name];
}

/** Reads from the chart how a rollout of its Deployment goes. */
export function readChartRollout(): ChartRollout {
  const values = parse(text("values.yaml")) as {
    replicaCount: number;
    drainSeconds: number;
    terminationGracePeriodSeconds: number;
  };
  const helpers = text("templates/_helpers.tpl");
  for (const used of ["drainSeconds", "terminationGracePeriodSeconds"])
    if (!helpers.includes(`.Values.${used}`)) throw new Error(`no pod is told ${used}`);
  const { httpGet, ...times } = plainPart("templates/_helpers.tpl", "readinessProbe") as {
    httpGet: { path: string };
  } & Partial<Omit<ChartRollout["readiness"], "path">>;
  const { maxSurge, maxUnavailable } = plainPart("templates/deployment.yaml", "rollingUpdate") as Pick<
    ChartRollout,
    "maxSurge" | "maxUnavailable"
  >;
  return {
    replicas: values.replicaCount,
    maxSurge,
    maxUnavailable,
    drainSeconds: values.drainSeconds,
    graceSeconds: values.terminationGracePeriodSeconds,
    readiness: { ...probeDefaults, ...times, path: httpGet.path },
  };
}
