import { join } from "node:path";

import { type Config, keepSecretKey, loadSecretKey } from "../config.ts";
import type { Database } from "../db/connect.ts";
import { type LostSecret, lostText } from "../domain/lost-secrets.ts";
import { createSecretBox } from "../lib/secret-box.ts";
import { openArchive } from "../modules/maintenance/backups/encryption-service.ts";
import { type FoundBackup, listBackups } from "../modules/maintenance/backups/folder-service.ts";
import type { Restored } from "../modules/maintenance/backups/restore-service.ts";
import type { Place } from "../modules/maintenance/backups/place-service.ts";
import { forgetSecrets } from "../modules/maintenance/backups/sealed-service.ts";
import { type IdentityFlag, presentSecretKey } from "./backup-encryption.ts";
import { restoredTime, runActor } from "./command-deps.ts";
import { CliError, print, WarningsError } from "./output.ts";

/** What `waybill restore` can be told. */
export interface RestoreFlags extends IdentityFlag {
  into?: string;
  at?: string;
  wal?: string;
  dryRun?: boolean;
  forceNonempty?: boolean;
  quarantine?: boolean;
  quick?: boolean;
  forgetSecrets?: boolean;
  json?: boolean;
}

/** Reads the fingerprint of the key that a server of this configuration would have; undefined when it would make one. */
function keyFingerprint(config: Config): string | undefined {
  const key = presentSecretKey(config);
  return key === undefined ? undefined : createSecretBox(key).fingerprint;
}

/** Says whether servers could open what is sealed in a backup: those of this configuration, which has the backup's key when it has none. */
export function hasKey(config: Config, { head, secretKey }: FoundBackup): boolean {
  const sealedWith = head.secret_key_fingerprint;
  const brought = secretKey === undefined ? undefined : createSecretBox(secretKey).fingerprint;
  return sealedWith === null || sealedWith === (keyFingerprint(config) ?? brought);
}

/** Keeps the key that a backup has where there is none. */
export function restoreKey(config: Config, { secretKey }: FoundBackup): void {
  if (secretKey !== undefined) keepSecretKey(config, secretKey);
}

/** So many of the things that would not work are named; the others are counted. */
const mostNamed = 50;

/** What a physical backup may have sealed: what it has is known when it was restored. */
const unknownLost = [
  "the addresses of webhooks that actions tell, in whatever organizations have some",
  "the secrets that webhooks are signed with, which become others",
  "the secrets of code-quality webhooks",
  "the ID tokens of sessions, so that signing out asks the provider without a hint",
];

/** Says what a restore without the key would lose. @param lost undefined where it is not known. */
export function lostWithoutKey(lost: readonly LostSecret[] | undefined): string[] {
  if (lost?.length === 0) return ["Nothing is sealed in it, so that nothing would be lost."];
  const named = lost === undefined ? unknownLost : lost.slice(0, mostNamed).map(lostText);
  const more = (lost?.length ?? 0) - named.length;
  return [
    "Without it these would not work any more:",
    ...named.map((text) => `- ${text}`),
    ...(more > 0 ? [`- and ${more} others`] : []),
  ];
}

/** Says that the key is not here, and what is to be done. */
export function withoutKey(
  config: Config,
  { secretKey }: FoundBackup,
  lost: readonly LostSecret[] | undefined,
): string {
  const file = join(config.dataDir, "secret-key");
  const here = keyFingerprint(config) === undefined ? "there is none here" : "another one is here";
  const remedy =
    secretKey === undefined
      ? `set WAYBILL_SECRET_KEY, or the file ${file}, to the key of the installation that was backed up`
      : `the key is in the backup: take WAYBILL_SECRET_KEY, or the file ${file}, away, or restore elsewhere`;
  return [
    `The secrets in this backup were sealed with a secret key, and ${here}.`,
    ...lostWithoutKey(lost),
    `Nothing was changed. To restore all of it, ${remedy}. Without the key, --forget-secrets restores everything else.`,
  ].join("\n");
}

/**
 * Makes what forgets the secrets of the database that a restore makes; undefined where the key is right.
 * @throws ConfigError for a key that servers would not take.
 */
export function forgetting(
  config: Config,
  found: FoundBackup,
): ((db: Database) => Promise<LostSecret[]>) | undefined {
  if (hasKey(config, found)) return undefined;
  const isKeyHere = presentSecretKey(config) !== undefined;
  const fingerprint = isKeyHere ? createSecretBox(loadSecretKey(config)).fingerprint : undefined;
  return async (db) => {
    const { clock, refused } = await restoredTime(db);
    if (refused !== undefined) throw new CliError(refused);
    return forgetSecrets({ db, clock }, runActor("restore", false), fingerprint);
  };
}

/** Says what was forgotten. */
function forgottenText(forgotten: readonly LostSecret[] | undefined): string[] {
  if (forgotten === undefined) return [];
  if (forgotten.length === 0)
    return ["The secret key is another one now; nothing was sealed with the old one"];
  return [
    [
      "Forgotten, because the secret key is another one:",
      ...forgotten.map((each) => `- ${lostText(each)}`),
    ].join("\n"),
  ];
}

/** What is said of a restore besides what became of it. */
interface RestoreStory {
  /** What was restored, in words. */
  text: string;
  /** The same for programs, before what became of it. */
  facts: Record<string, unknown>;
  seconds: number;
  json: boolean;
}

/** Says what was restored, and what became of it. @throws WarningsError with what somebody should look at. */
export function tellRestored(
  { warnings, forgotten, evidence_shared }: Pick<Restored, "warnings" | "forgotten" | "evidence_shared">,
  { text, facts, seconds, json }: RestoreStory,
): void {
  if (evidence_shared)
    print.error(
      "restore: another installation may keep its evidence where this one does, so that nothing is removed there; when that one is gone: `waybill admin evidence take-over`",
    );
  const all = [...warnings, ...forgottenText(forgotten)];
  print.line(
    json
      ? JSON.stringify({ ...facts, warnings: all, forgotten: forgotten ?? [], evidence_shared, seconds })
      : `Restored and checked: ${text}, ${seconds.toFixed(1)} s`,
  );
  if (all.length > 0) throw new WarningsError(all.join("\n"));
}

/** Opens the backup of a place that has this id; undefined when it is not there. */
export async function openOther(place: Place, id: string): Promise<AsyncIterable<Buffer> | undefined> {
  const { backups } = await listBackups(place);
  const found = backups.find(({ head }) => head.id === id);
  return found && openArchive(found.file);
}
