import { describe, expect, it } from "vitest";

import { type Fault, testDiagnoses, type Well } from "../../test/support/diagnoses.ts";
import {
  type Exposure,
  fileSystemOf,
  judgeArchiver,
  judgeBackupAge,
  judgeCertificate,
  judgeConnections,
  judgeDataDirectory,
  judgeDeadRows,
  judgeDensity,
  judgeDescriptors,
  judgeDrillAge,
  judgeEndingKeys,
  judgeEternalKeys,
  judgeFileSystem,
  judgeFirstKey,
  judgeIndexes,
  judgeNode,
  judgePlainHttp,
  judgeProxy,
  judgeReached,
  judgeSecretFiles,
  judgeSettings,
  judgeStatistics,
  judgeUnusedKeys,
  withRemedy,
  worstDiagnosis,
} from "./doctor.ts";

const in2026 = Date.parse("2026-06-01") / 1000;
const folder = { path: "/data", owner: 7, mode: 0o40700 };
const safe: Exposure = {
  dev: false,
  allowPrivateTargets: false,
  isSilent: false,
  isLocal: true,
  hasTls: false,
  trustsProxies: false,
  publicUrl: "http://localhost:8001",
  isPublicLocal: true,
};
const table = { name: "trails", bytes: 2 ** 21, isAnalyzed: true, live: 100_000, dead: 60_000 };
const keys = { working: 3, eternal: 0, unused: 0, ending: 0, first: 0 };
const day = 86_400;

const well: Well[] = [
  ["node", judgeNode("22.11.0", in2026)],
  ["data directory", judgeDataDirectory(folder, 7)],
  ["data directory that PostgreSQL's user passes", judgeDataDirectory({ ...folder, mode: 0o40711 }, 7)],
  ["data directory where there are no users", judgeDataDirectory(folder, undefined)],
  ["secret files", judgeSecretFiles([{ path: "/data/secret-key", owner: 7, mode: 0o100600 }])],
  ["no secret files", judgeSecretFiles([])],
  ["file system", judgeFileSystem("/data", "ext4")],
  ["unknown file system", judgeFileSystem("/data", undefined)],
  ["descriptors", judgeDescriptors(4_096)],
  ["settings", judgeSettings(safe)],
  ["loopback", judgePlainHttp(safe)],
  ["TLS", judgePlainHttp({ ...safe, isLocal: false, hasTls: true })],
  ["plain HTTP behind a proxy", judgePlainHttp({ ...safe, isLocal: false, trustsProxies: true })],
  ["no proxy", judgeProxy(safe)],
  ["trusted proxy", judgeProxy({ ...safe, isPublicLocal: false, trustsProxies: true })],
  ["certificate", judgeCertificate("it", in2026 + 14 * day, in2026)],
  ["indexes", judgeIndexes([])],
  ["statistics", judgeStatistics([table, { ...table, isAnalyzed: false, bytes: 8_192 }])],
  ["dead rows", judgeDeadRows([table, { ...table, live: 0, dead: 50_000 }])],
  ["density", judgeDensity("builds", [])],
  ["connections", judgeConnections({ max: 97, used: 80 }, 20)],
  ["no archive", judgeArchiver({ isOn: false, lastArchived: null, lastFailed: 5 })],
  ["archive", judgeArchiver({ isOn: true, lastArchived: 6, lastFailed: 5 })],
  ["backup", judgeBackupAge(26 * 3_600)],
  ["drill", judgeDrillAge(8 * day)],
  ["eternal keys", judgeEternalKeys(keys)],
  ["ending keys", judgeEndingKeys(keys)],
  ["unused keys", judgeUnusedKeys(keys)],
  ["first key", judgeFirstKey(keys, undefined)],
  ["reached", judgeReached("the mail server", undefined, "Check it")],
  ["health", withRemedy({ status: "ok", detail: "none" }, "Look")],
];

const faults: Fault[] = [
  ["old node", judgeNode("20.18.3", in2026), "failing", /20\.19/],
  ["ended node", judgeNode("20.19.0", in2026), "warning", /no security fixes/],
  ["odd node", judgeNode("23.1.0", in2026), "warning", /no long-term support/],
  ["owner", judgeDataDirectory(folder, 8), "warning", /user 7.*user 8/],
  ["group writes", judgeDataDirectory({ ...folder, mode: 0o40770 }, 7), "failing", /0770/],
  ["others read", judgeDataDirectory({ ...folder, mode: 0o40755 }, 7), "warning", /0755/],
  ["secret", judgeSecretFiles([{ path: "/data/secret-key", owner: 7, mode: 0o640 }]), "failing", /0640/],
  ["NFS", judgeFileSystem("/data", "nfs4"), "warning", /network/],
  ["sshfs", judgeFileSystem("/data", "fuse.sshfs"), "warning", /network/],
  ["container", judgeFileSystem("/data", "overlay"), "warning", /does not outlast/],
  ["descriptors", judgeDescriptors(1_024), "warning", /1024/],
  ["development", judgeSettings({ ...safe, dev: true }), "warning", /WAYBILL_DEV/],
  ["private targets", judgeSettings({ ...safe, allowPrivateTargets: true }), "warning", /ALLOW_PRIVATE/],
  ["no log", judgeSettings({ ...safe, isSilent: true }), "warning", /silent/],
  ["plain HTTP", judgePlainHttp({ ...safe, isLocal: false }), "warning", /plain HTTP/],
  ["proxy here", judgeProxy({ ...safe, isPublicLocal: false }), "warning", /not trusted/],
  [
    "proxy elsewhere",
    judgeProxy({ ...safe, isLocal: false, isPublicLocal: false, publicUrl: "https://waybill.example.org" }),
    "warning",
    /not trusted/,
  ],
  ["certificate", judgeCertificate("it", in2026 + 13 * day, in2026), "warning", /13 days/],
  ["ended certificate", judgeCertificate("it", in2026, in2026), "failing", /expired/],
  ["indexes", judgeIndexes(["a", "b", "c", "d", "e", "f"]), "failing", /a, b, c, d, e and 1 more/],
  ["statistics", judgeStatistics([{ ...table, isAnalyzed: false }]), "warning", /trails/],
  ["dead rows", judgeDeadRows([{ ...table, live: 59_999 }]), "warning", /trails \(2\.0 MiB\)/],
  ["density", judgeDensity("numbers of builds", ["x"]), "failing", /numbers of builds.*x/],
  ["no connections", judgeConnections({ max: 97, used: 90 }, 20), "warning", /90 of 97/],
  ["few connections", judgeConnections({ max: 17, used: 2 }, 20), "failing", /up to 20/],
  ["archive", judgeArchiver({ isOn: true, lastArchived: 5, lastFailed: 6 }), "failing", /failed/],
  [
    "archive from the start",
    judgeArchiver({ isOn: true, lastArchived: null, lastFailed: 6 }),
    "failing",
    /failed/,
  ],
  ["no backup", judgeBackupAge(undefined), "warning", /none/],
  ["old backup", judgeBackupAge(26 * 3_600 + 1), "warning", /26 h/],
  ["no drill", judgeDrillAge(undefined), "warning", /no backup/],
  ["old drill", judgeDrillAge(8 * day + 1), "warning", /8 days/],
  ["eternal keys", judgeEternalKeys({ ...keys, eternal: 2 }), "warning", /2 of 3/],
  ["ending keys", judgeEndingKeys({ ...keys, ending: 2 }), "warning", /2 of 3 .* 14 days/],
  ["unused keys", judgeUnusedKeys({ ...keys, unused: 1 }), "warning", /1 of 3/],
  ["first key", judgeFirstKey({ first: 1 }, undefined), "warning", /still works/],
  ["its file", judgeFirstKey({ first: 0 }, "/data/initial-admin-key"), "warning", /kept in a file/],
  ["not reached", judgeReached("the mail server", "refused", "Check it"), "failing", /refused/],
  ["health", withRemedy({ status: "degraded", detail: "two" }, "Look"), "warning", /two/],
];

describe("what the doctor judges", () => {
  testDiagnoses(well, faults);
});

describe("worstDiagnosis", () => {
  it("finds the worst", () => {
    expect(worstDiagnosis([])).toBe("ok");
    expect(worstDiagnosis([{ status: "ok" }, { status: "failing" }, { status: "warning" }])).toBe("failing");
  });
});

describe("fileSystemOf", () => {
  const mounts = [
    "overlay / overlay rw 0 0",
    "/dev/sda1 /var ext4 rw 0 0",
    String.raw`server:/x /var/lib/way\040bill nfs4 rw 0 0`,
    "tmpfs /twice tmpfs rw 0 0",
    "/dev/sdb1 /twice xfs rw 0 0",
  ].join("\n");

  it.each([
    ["/var/lib/way bill/data", "nfs4"],
    ["/var/lib/waybill", "ext4"],
    ["/various", "overlay"],
    ["/var", "ext4"],
    ["/twice/data", "xfs"],
  ])("finds where %s is", (path, type) => {
    expect(fileSystemOf(path, mounts)).toBe(type);
  });

  it("finds none without mounts", () => {
    expect(fileSystemOf("/data", "")).toBeUndefined();
  });
});
