import { z } from "zod";

import { briefReport } from "../domain/snapshot/brief.ts";
import { organizationRole } from "./access.ts";
import { integer, json, Ok } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { listOf, mapOf } from "./lists.ts";

/** How long names in reports may be: enough for any path or image. */
const text = z.string().max(4096);

/** Pods, tasks, containers in one report. */
const maxItems = 20_000;

/** The year 1, which reporters send when they do not know, to the end of the year 9999. */
const moment = integer().min(-62_135_596_800).max(253_402_300_799);

const fingerprint = z.string().regex(/^[a-f0-9]{64}$/);
/** Empty: it runs, but its digest is not known. */
const fingerprintIfKnown = z.string().regex(/^([a-f0-9]{64})?$/);

const item = { digests: mapOf(text, fingerprint), creationTimestamp: moment };
const itemIfKnown = { ...item, digests: mapOf(text, fingerprintIfKnown) };

function report<Type extends string, Item extends z.ZodType>(type: Type, schema: Item) {
  return z.strictObject({
    type: z.literal(type).default(type),
    artifacts: listOf(schema, { max: maxItems }),
  });
}

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

const K8SArtifact = z
  .strictObject({
    podName: text,
    namespace: text,
    ...item,
    owners: listOf(K8SOwner, { max: 100 }).nullish(),
  })
  .meta({ id: "K8SArtifact" });

const ECSArtifact = z
  .strictObject({
    taskArn: text,
    cluster_name: text.nullish(),
    service_name: text.nullish(),
    ...itemIfKnown,
  })
  .meta({ id: "ECSArtifact" });

const AzureAppsArtifact = z
  .strictObject({
    app_name: text,
    app_kind: text,
    digests_source: z.enum(["acr", "logs", "kosli-cli"]),
    ...itemIfKnown,
  })
  .meta({ id: "AzureAppsArtifact" });

const CloudRunArtifact = z
  .strictObject({
    kind: z.enum(["service", "job"]),
    serviceName: text.nullish(),
    revisionName: text.nullish(),
    jobName: text.nullish(),
    ...itemIfKnown,
  })
  .meta({ id: "CloudRunArtifact" });

/** One for each kind of environment: everything that runs there now. */
export const K8SReport = report("K8S", K8SArtifact).meta({ id: "K8SReport" });
export const ECSReport = report("ECS", ECSArtifact).meta({ id: "ECSReport" });
export const AzureAppsReport = report("azure-apps", AzureAppsArtifact).meta({ id: "AzureAppsReport" });
export const CloudRunReport = report("cloud-run", CloudRunArtifact).meta({ id: "CloudRunReport" });
export const S3Report = report("S3", z.strictObject(item).meta({ id: "S3Artifact" })).meta({
  id: "S3Report",
});
export const LambdaReport = report("lambda", z.strictObject(item).meta({ id: "LambdaArtifact" })).meta({
  id: "LambdaReport",
});
export const ServerReport = report("server", z.strictObject(item).meta({ id: "ServerArtifact" })).meta({
  id: "ServerReport",
});
export const DockerReport = report("docker", z.strictObject(item).meta({ id: "DockerArtifact" })).meta({
  id: "DockerReport",
});

const common = {
  method: "PUT",
  tag: "Environments",
  description:
    "The report names everything that runs now. It makes a snapshot when something started or exited, or when what is " +
    "known of something has changed; times and numbers of instances alone make none.",
  access: organizationRole("snapshotter"),
  responses: { 200: json("Nothing has changed", Ok), 201: json("There is a new snapshot", Ok) },
} as const;

export const snapshotReportEndpoints = {
  k8s_report: endpoint({
    ...common,
    path: "/environments/{org}/{env_name}/report/K8S",
    summary: "Report what runs in a Kubernetes cluster",
    body: { kind: "json", schema: K8SReport, brief: briefReport },
  }),
  ecs_report: endpoint({
    ...common,
    path: "/environments/{org}/{env_name}/report/ECS",
    summary: "Report what runs in Amazon ECS",
    body: { kind: "json", schema: ECSReport, brief: briefReport },
  }),
  s3_report: endpoint({
    ...common,
    path: "/environments/{org}/{env_name}/report/S3",
    summary: "Report what a bucket holds",
    body: { kind: "json", schema: S3Report, brief: briefReport },
  }),
  lambda_report: endpoint({
    ...common,
    path: "/environments/{org}/{env_name}/report/lambda",
    summary: "Report what runs in AWS Lambda",
    body: { kind: "json", schema: LambdaReport, brief: briefReport },
  }),
  server_report: endpoint({
    ...common,
    path: "/environments/{org}/{env_name}/report/server",
    summary: "Report what is on a server",
    body: { kind: "json", schema: ServerReport, brief: briefReport },
  }),
  docker_report: endpoint({
    ...common,
    path: "/environments/{org}/{env_name}/report/docker",
    summary: "Report which containers run on a host",
    body: { kind: "json", schema: DockerReport, brief: briefReport },
  }),
  azure_apps_report: endpoint({
    ...common,
    path: "/environments/{org}/{env_name}/report/azure-apps",
    summary: "Report which Azure apps run",
    body: { kind: "json", schema: AzureAppsReport, brief: briefReport },
  }),
  cloud_run_report: endpoint({
    ...common,
    path: "/environments/{org}/{env_name}/report/cloud-run",
    summary: "Report which Cloud Run services and jobs run",
    body: { kind: "json", schema: CloudRunReport, brief: briefReport },
  }),
} satisfies Endpoints;
