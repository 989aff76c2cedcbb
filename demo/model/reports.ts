import { createHash } from "node:crypto";

import type { Report } from "../../src/domain/snapshot/report.ts";
import { rounds } from "../data/sites.ts";
import type { Running, SiteReport } from "./rollout.ts";
import type { Site } from "./sites.ts";

/** One instance of something that runs. */
interface Instance {
  digests: Record<string, string>;
  creationTimestamp: number;
  /** The name orchestrators have for it: without registry and version. */
  service: string;
  /** Tells versions apart. */
  version: string;
  id: string;
}

/** Seconds between rounds. */
const pace = 60;

function digits(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

function serviceOf(name: string): string {
  return (name.split("/").at(-1) ?? name).replace(/[:.].*$/, "");
}

function instancesOf(running: Running, now: number): Instance[] {
  const { name, fingerprint, since, built, instances } = running;
  const begun = Math.max(Math.floor(now) - (rounds.total - since) * pace, Math.ceil(built));
  return Array.from({ length: instances }, (_, index) => ({
    digests: { [name]: fingerprint },
    creationTimestamp: begun + index,
    service: serviceOf(name),
    version: digits(fingerprint + name, 8),
    id: digits(`${fingerprint}${name} ${index}`, 32),
  }));
}

/** Makes a report of everything that runs at a site, as the reporter of its type sends it. @param now Unix seconds. */
export function reportOf({ site, running }: SiteReport, now: number): Report {
  const instances = running.flatMap((each) => instancesOf(each, now));
  const each = <T>(more: (instance: Instance) => T) =>
    instances.map((instance) => ({
      digests: instance.digests,
      creationTimestamp: instance.creationTimestamp,
      ...more(instance),
    }));
  switch (site.type) {
    case "K8S":
      return {
        type: site.type,
        artifacts: each(({ service, version, id }) => ({
          podName: `${service}-${version}-${id.slice(0, 5)}`,
          namespace: site.space,
          owners: [ownerOf(service, version)],
        })),
      };
    case "ECS":
      return { type: site.type, artifacts: each(({ service, id }) => taskOf(site, service, id)) };
    case "azure-apps":
      return {
        type: site.type,
        artifacts: each(({ service }) => ({
          app_name: service,
          app_kind: "functionapp",
          digests_source: "acr",
        })),
      };
    case "cloud-run":
      return {
        type: site.type,
        artifacts: each(({ service, version }) => ({
          kind: "service",
          serviceName: service,
          revisionName: `${service}-${version}`,
        })),
      };
    default:
      return { type: site.type, artifacts: each(() => ({})) };
  }
}

function ownerOf(service: string, version: string) {
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    name: `${service}-${version}`,
    uid: digits(`${service} ${version}`, 32),
    controller: true,
    blockOwnerDeletion: true,
  };
}

function taskOf(site: Site, service: string, id: string) {
  return {
    taskArn: `arn:aws:ecs:eu-central-1:210987654321:task/${site.name}/${id}`,
    cluster_name: site.name,
    service_name: service,
  };
}
