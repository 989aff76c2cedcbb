import { z } from "zod";

import { summarizeReport } from "../domain/snapshot/summary.ts";
import { type Member, objectOf, quickly, shortListOf, smallMapOf } from "./accepted.ts";
import { organizationRole } from "./access.ts";
import { integer, json, Ok } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { listOf, mapOf } from "./lists.ts";

/** A name in a report, long enough for any path or image. */
const maxText = 4096;
const text = z.string().max(maxText);

/** Most pods, tasks or containers in one report. */
const maxItems = 20_000;

/**
 * A start time in Unix seconds, from the year 1, which reporters send when they do not know it, to the end of the year
 * 9999.
 */
const moments = { first: -62_135_596_800, last: 253_402_300_799 };
const moment = integer().min(moments.first).max(moments.last);

const fingerprintPattern = /^[a-f0-9]{64}$/;
const fingerprint = z.string().regex(fingerprintPattern);
/** A fingerprint; empty for what runs without its digest being known. */
const fingerprintIfKnown = z.string().regex(/^([a-f0-9]{64})?$/);

const item = { digests: mapOf(text, fingerprint), creationTimestamp: moment };
const itemIfKnown = { ...item, digests: mapOf(text, fingerprintIfKnown) };

const isText = (value: unknown): boolean => typeof value === "string" && value.length <= maxText;
const isFlag = (value: unknown): boolean => typeof value === "boolean" || value === null;

/** What `item` says, to be accepted without validating it. */
const itemMembers: Member[] = [
  {
    name: "digests",
    accepts: smallMapOf(isText, (value) => typeof value === "string" && fingerprintPattern.test(value)),
  },
  {
    name: "creationTimestamp",
    accepts: (value) =>
      Number.isInteger(value) && (value as number) >= moments.first && (value as number) <= moments.last,
  },
];

/** What `K8SOwner` says, of owners without other keys. */
const isOwner = objectOf([
  ...["apiVersion", "kind", "name", "uid"].map((name) => ({ name, accepts: isText })),
  ...["controller", "blockOwnerDeletion"].map((name) => ({ name, isOptional: true, accepts: isFlag })),
]);
const areOwners = shortListOf(isOwner);

/** What `K8SArtifact` says. */
const isPod = objectOf([
  { name: "podName", accepts: isText },
  { name: "namespace", accepts: isText },
  ...itemMembers,
  { name: "owners", isOptional: true, accepts: (value) => value === null || areOwners(value) },
]);

const isDigests = objectOf(itemMembers);

function report<Type extends string, Item extends z.ZodType>(type: Type, schema: Item) {
  return z.strictObject({
    type: z.literal(type).default(type),
    artifacts: listOf(schema, { max: maxItems }),
  });
}

/** The owner of a pod, as Kubernetes names it. Other keys are kept. */
const K8SOwner = z
  .looseObject({
    apiVersion: text,
    kind: text,
    name: text,
    uid: text,
    controller: z.boolean().nullish(),
    blockOwnerDeletion: z.boolean().nullish(),
  })
  .meta({ id: "K8SOwner" });

/** A pod with the digests of its images. */
const K8SArtifact = quickly(
  z
    .strictObject({
      podName: text,
      namespace: text,
      ...item,
      owners: listOf(K8SOwner, { max: 100 }).nullish(),
    })
    .meta({ id: "K8SArtifact" }),
  isPod,
);

/** A task with the digests of its images. */
const ECSArtifact = z
  .strictObject({
    taskArn: text,
    cluster_name: text.nullish(),
    service_name: text.nullish(),
    ...itemIfKnown,
  })
  .meta({ id: "ECSArtifact" });

/** An Azure app with its digests, and where these were found. */
const AzureAppsArtifact = z
  .strictObject({
    app_name: text,
    app_kind: text,
    digests_source: z.enum(["acr", "logs", "kosli-cli"]),
    ...itemIfKnown,
  })
  .meta({ id: "AzureAppsArtifact" });

/** A revision of a service, or a job, with its digests. */
const CloudRunArtifact = z
  .strictObject({
    kind: z.enum(["service", "job"]),
    serviceName: text.nullish(),
    revisionName: text.nullish(),
    jobName: text.nullish(),
    ...itemIfKnown,
  })
  .meta({ id: "CloudRunArtifact" });

function digestsOf(id: string) {
  return quickly(z.strictObject(item).meta({ id }), isDigests);
}

/** Reports of everything that runs in an environment now, by its type. */
export const K8SReport = report("K8S", K8SArtifact).meta({ id: "K8SReport" });
const ECSReport = report("ECS", ECSArtifact).meta({ id: "ECSReport" });
const AzureAppsReport = report("azure-apps", AzureAppsArtifact).meta({ id: "AzureAppsReport" });
const CloudRunReport = report("cloud-run", CloudRunArtifact).meta({ id: "CloudRunReport" });
const S3Report = report("S3", digestsOf("S3Artifact")).meta({ id: "S3Report" });
const LambdaReport = report("lambda", digestsOf("LambdaArtifact")).meta({ id: "LambdaReport" });
export const ServerReport = report("server", digestsOf("ServerArtifact")).meta({ id: "ServerReport" });
const DockerReport = report("docker", digestsOf("DockerArtifact")).meta({ id: "DockerReport" });

/** Declares the operation that reports one type of environment (contract environments 4). */
function reportOf<Kind extends string, Schema extends z.ZodType>(
  kind: Kind,
  summary: string,
  schema: Schema,
) {
  return endpoint({
    method: "PUT",
    path: `/environments/{org}/{env_name}/report/${kind}`,
    tag: "Environments",
    summary,
    description:
      "The report names everything that runs now. It makes a snapshot when something started or exited, or when what is " +
      "known of something has changed; times and numbers of instances alone make none.",
    access: organizationRole("snapshotter"),
    body: { kind: "json", schema, summarize: summarizeReport },
    responses: { 200: json("Nothing has changed", Ok), 201: json("There is a new snapshot", Ok) },
  });
}

export const snapshotReportEndpoints = {
  k8s_report: reportOf("K8S", "Report what runs in a Kubernetes cluster", K8SReport),
  ecs_report: reportOf("ECS", "Report what runs in Amazon ECS", ECSReport),
  s3_report: reportOf("S3", "Report what a bucket holds", S3Report),
  lambda_report: reportOf("lambda", "Report what runs in AWS Lambda", LambdaReport),
  server_report: reportOf("server", "Report what is on a server", ServerReport),
  docker_report: reportOf("docker", "Report which containers run on a host", DockerReport),
  azure_apps_report: reportOf("azure-apps", "Report which Azure apps run", AzureAppsReport),
  cloud_run_report: reportOf("cloud-run", "Report which Cloud Run services and jobs run", CloudRunReport),
} satisfies Endpoints;
