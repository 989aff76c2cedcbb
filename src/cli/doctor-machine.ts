import { readFile, realpath, stat } from "node:fs/promises";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import { getHeapStatistics } from "node:v8";

import type { Config } from "../config.ts";
import { compareMajors } from "../db/managed/index.ts";
import {
  type Diagnosis,
  type Exposure,
  fileSystemOf,
  judgeDataDirectory,
  judgeDescriptors,
  judgeFileSystem,
  judgeNode,
  judgePlainHttp,
  judgeSecretFiles,
  judgeSettings,
  type Rights,
  withRemedy,
} from "../domain/doctor.ts";
import { judgeEngine, judgeLogLevel, judgeMemory } from "../domain/doctor-upkeep.ts";
import { createEvidenceStore } from "../evidence/create.ts";
import { silentLog } from "../lib/log.ts";
import { isLoopbackHost } from "../lib/network.ts";
import { openFilesLimit } from "../lib/open-files.ts";
import { lookAtDisk, lookAtEvidence } from "../modules/maintenance/health/service.ts";
import type { DoctorCheck } from "./doctor-checks.ts";
import { initialKeyFile } from "./first-start.ts";

/** Reads owner and rights; undefined when there is nothing. */
async function readRights(path: string): Promise<Rights | undefined> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return found && { path, owner: found.uid, mode: found.mode };
}

/** Names files of secrets that are in the data directory or that settings name. */
function secretFiles({ dataDir, tls }: Config): string[] {
  return [join(dataDir, "secret-key"), initialKeyFile(dataDir), ...(tls === undefined ? [] : [tls.key])];
}

/** Finds the nearest folder upwards that is there. */
export async function existing(folder: string): Promise<string> {
  const isThere = (await readRights(folder)) !== undefined;
  return isThere || dirname(folder) === folder ? folder : existing(dirname(folder));
}

async function readFileSystem(folder: string): Promise<string | undefined> {
  const mounts = await readFile("/proc/self/mounts", "utf8").catch(() => undefined);
  return mounts === undefined ? undefined : fileSystemOf(await realpath(await existing(folder)), mounts);
}

/** Tells which settings matter to who may do what. */
export function exposureOf(config: Config): Exposure {
  const { dev, allowPrivateTargets, logLevel, host, inheritedSocket, tls, trustedProxies, publicUrl } =
    config;
  return {
    dev,
    allowPrivateTargets,
    isSilent: logLevel === "silent",
    isLocal: isLoopbackHost(host) && inheritedSocket === undefined,
    hasTls: tls !== undefined,
    trustsProxies: trustedProxies !== undefined,
    publicUrl,
    isPublicLocal: isLoopbackHost(new URL(publicUrl).hostname.replaceAll(/^\[|\]$/g, "")),
  };
}

const makeRoom = "Make room on this disk, or enlarge it (docs/runbooks.md)";

/** Writes evidence and removes it, unless that would leave folders that the server may not write to. */
async function lookAtStore({ evidence, dataDir }: Config): ReturnType<typeof lookAtEvidence> {
  const folder = (await readRights(evidence.dir)) ?? (await readRights(dataDir));
  if (folder === undefined) return { status: "ok", detail: "there is none before the first start" };
  if (process.getuid !== undefined && folder.owner !== process.getuid())
    return { status: "degraded", detail: `not tried: ${folder.path} belongs to another user` };
  return lookAtEvidence({ evidence: createEvidenceStore(evidence), log: silentLog });
}

/** Looks at what this process may have, which the server may, too, with the same settings and limits. */
function lookAtMemory(): Diagnosis {
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return judgeMemory(getHeapStatistics().heap_size_limit, Math.min(limit, totalmem()));
}

function programChecks({ logLevel, databaseUrl, dataDir }: Config, exposure: Exposure): DoctorCheck[] {
  return [
    { group: "program", name: "node", look: () => judgeNode(process.versions.node, Date.now() / 1000) },
    {
      group: "program",
      name: "engine",
      look: async () => (databaseUrl === undefined ? judgeEngine(await compareMajors(dataDir)) : undefined),
    },
    { group: "program", name: "settings", look: () => judgeSettings(exposure) },
    { group: "program", name: "log_level", look: () => judgeLogLevel(logLevel) },
  ];
}

/** Lists what is looked at in this machine: nothing of it needs a server or a database. */
export function machineChecks(config: Config): DoctorCheck[] {
  const { dataDir, evidence } = config;
  const exposure = exposureOf(config);
  return [
    ...programChecks(config, exposure),
    { group: "machine", name: "memory", look: lookAtMemory },
    {
      group: "machine",
      name: "data_directory",
      look: async () => {
        const rights = await readRights(dataDir);
        return rights && judgeDataDirectory(rights, process.getuid?.());
      },
    },
    {
      group: "machine",
      name: "secret_files",
      look: async () => {
        const found = await Promise.all(secretFiles(config).map(readRights));
        return judgeSecretFiles(found.filter((rights) => rights !== undefined));
      },
    },
    {
      group: "machine",
      name: "file_system",
      look: async () => judgeFileSystem(dataDir, await readFileSystem(dataDir)),
    },
    {
      group: "machine",
      name: "data_disk",
      look: async () => withRemedy(await lookAtDisk(dataDir), makeRoom),
    },
    { group: "machine", name: "descriptors", look: () => judgeDescriptors(openFilesLimit()) },
    { group: "network", name: "plain_http", look: () => judgePlainHttp(exposure) },
    {
      group: "evidence",
      name: "evidence_disk",
      look: async () => withRemedy(await lookAtDisk(evidence.dir), makeRoom),
    },
    {
      group: "evidence",
      name: "evidence_store",
      look: async () => {
        const where =
          evidence.s3 === undefined
            ? `the rights of ${evidence.dir}`
            : "WAYBILL_EVIDENCE_S3_… and the bucket";
        const remedy = `Check ${where}, and look again as the user the server runs as`;
        try {
          return withRemedy(await lookAtStore(config), remedy);
        } catch (error) {
          const reason = error instanceof Error ? error.message || error.name : String(error);
          return { status: "failing", detail: `evidence cannot be kept: ${reason}`, remedy };
        }
      },
    },
  ];
}
