import type { NonEmpty } from "../../lib/group.ts";
import { grouped, sorted, type Steps } from "../../lib/steps.ts";
import { compareText } from "../../lib/text.ts";
import type { AzureAppsItem, CloudRunItem, Digests, EcsItem, K8sItem, Report } from "./report.ts";
import { artifactKey, byName, type Pod, type RunningArtifact, type Workload } from "./running.ts";

/** One item of a report: a pod, a task, a container, a function. */
interface Instance {
  digests: Digests;
  created: number;
  pod?: { name: string; pod: Pod };
  context: Omit<Workload, "pods">;
}

function fromPod({ podName, namespace, owners, digests, creationTimestamp }: K8sItem): Instance {
  const pod = { namespace, creationTimestamp, owners: owners ?? null };
  return { digests, created: creationTimestamp, pod: { name: podName, pod }, context: {} };
}

function fromTask(item: EcsItem): Instance {
  const { taskArn, cluster_name = null, service_name = null, digests, creationTimestamp } = item;
  const ecs_context = { task_arn: taskArn, cluster_name, service_name };
  return { digests, created: creationTimestamp, context: { ecs_context } };
}

function fromApp(item: AzureAppsItem): Instance {
  const { app_name, app_kind, digests_source, digests, creationTimestamp } = item;
  const azure_apps_context = { app_name, app_kind, digests_source };
  return { digests, created: creationTimestamp, context: { azure_apps_context } };
}

function fromRevision(item: CloudRunItem): Instance {
  const { kind, serviceName = null, revisionName = null, jobName = null, digests, creationTimestamp } = item;
  const names = { service_name: serviceName, revision_name: revisionName, job_name: jobName };
  return { digests, created: creationTimestamp, context: { cloud_run_context: { kind, ...names } } };
}

function instancesOf(report: Report): Instance[] {
  switch (report.type) {
    case "K8S":
      return report.artifacts.map(fromPod);
    case "ECS":
      return report.artifacts.map(fromTask);
    case "azure-apps":
      return report.artifacts.map(fromApp);
    case "cloud-run":
      return report.artifacts.map(fromRevision);
    default:
      return report.artifacts.map(({ digests, creationTimestamp }) => ({
        digests,
        created: creationTimestamp,
        context: {},
      }));
  }
}

/** An artifact in an instance. */
interface Part {
  name: string;
  fingerprint: string;
  instance: Instance;
}

function* partsOf(instances: readonly Instance[]): Generator<Part> {
  for (const instance of instances)
    for (const [name, fingerprint] of Object.entries(instance.digests)) yield { name, fingerprint, instance };
}

/** Items that are looked at before somebody else may do something. */
const inOneGo = 500;

/**
 * Sorts instances, oldest first; their text decides between those of one second, so that the order of a report does
 * not.
 */
function* byAge(instances: readonly Instance[]): Steps<Instance[]> {
  const identified: { instance: Instance; identity: string }[] = [];
  for (const instance of instances) {
    identified.push({ instance, identity: identityOf(instance) });
    if (identified.length % inOneGo === 0) yield;
  }
  const aged = yield* sorted(
    identified,
    (left, right) =>
      left.instance.created - right.instance.created || compareText(left.identity, right.identity),
  );
  return aged.map(({ instance }) => instance);
}

function identityOf({ pod, context }: Instance): string {
  return JSON.stringify([pod?.name, pod?.pod.namespace, context]);
}

function podsOf(instances: readonly Instance[]): Workload["pods"] {
  const [first] = instances;
  // Most artifacts have one.
  if (instances.length === 1) return first?.pod === undefined ? null : { [first.pod.name]: first.pod.pod };
  const pods = new Map<string, Pod>();
  for (const { pod } of instances)
    if (pod !== undefined) pods.set(freeName(pods, pod.name, pod.pod.namespace), pod.pod);
  return pods.size === 0 ? null : Object.fromEntries(pods);
}

/** Finds a name for a pod that no other has: a pod's name is its own only within a namespace. */
function freeName(pods: ReadonlyMap<string, Pod>, name: string, namespace: string): string {
  const known = pods.get(name);
  return known === undefined || known.namespace === namespace ? name : `${namespace}/${name}`;
}

/** @param parts all of the same artifact. */
function* toArtifact(parts: Readonly<NonEmpty<Part>>): Steps<RunningArtifact> {
  const [{ name, fingerprint }] = parts;
  const instances = parts.map(({ instance }) => instance);
  const aged = instances.length === 1 ? instances : yield* byAge(instances);
  return {
    name,
    fingerprint,
    creationTimestamp: aged.map(({ created }) => created),
    pods: podsOf(aged),
    ...aged.at(-1)?.context,
  };
}

/** Lists which artifacts run by a report, by `artifactKey`, in no particular order. */
export function* reportedKeys(report: Report): Steps<Set<string>> {
  const keys = new Set<string>();
  let looked = 0;
  for (const { digests } of report.artifacts)
    for (const [name, fingerprint] of Object.entries(digests)) {
      keys.add(artifactKey({ fingerprint, name }));
      looked += 1;
      if (looked % inOneGo === 0) yield;
    }
  return keys;
}

/** Bytes that are counted, at least, before somebody else may do something. */
const countedInOneGo = 64 * 1024;

/**
 * Counts the bytes of what a report says of where artifacts run, as they are stored: each of an item's artifacts has all
 * that is said of the item. Of artifacts that are stored with one of their items alone, all items count.
 */
export function* countPlaceBytes(report: Report): Steps<number> {
  let [total, counted] = [0, 0];
  for (const { digests, pod, context } of instancesOf(report)) {
    const artifacts = Object.keys(digests).length;
    const place = pod === undefined ? context : { [pod.name]: pod.pod };
    const bytes = Buffer.byteLength(JSON.stringify(place));
    total += artifacts * bytes;
    counted += bytes;
    if (counted < countedInOneGo) continue;
    yield;
    counted = 0;
  }
  return total;
}

/**
 * Lists the artifacts in a report: one for each fingerprint and name, with all its instances. Ordered by name, then
 * fingerprint; the order of the report does not matter.
 */
export function* flattenReport(report: Report): Steps<RunningArtifact[]> {
  const artifacts: RunningArtifact[] = [];
  const groups = yield* grouped(partsOf(instancesOf(report)), artifactKey);
  for (const parts of groups.values()) {
    artifacts.push(yield* toArtifact(parts));
    if (artifacts.length % inOneGo === 0) yield;
  }
  return yield* sorted(artifacts, byName);
}
