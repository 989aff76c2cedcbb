import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { Option } from "commander";

import { type Config, readConfig } from "../config.ts";
import { isRecipient, parseIdentities } from "../lib/age.ts";
import type { Identities } from "../modules/maintenance/backups/encryption-service.ts";
import { UsageError } from "./output.ts";

/** What commands that read backups can be told about encryption. */
export interface IdentityFlag {
  identity?: string;
}

/** What `waybill backup` can be told about it. */
export interface EncryptionFlags extends IdentityFlag {
  encryptTo?: string[];
  withSecretKey?: boolean;
}

/** Makes the option that names the file of an identity. */
export function identityOption(): Option {
  return new Option(
    "--identity <file>",
    "of an encrypted backup: the file with an identity of age (AGE-SECRET-KEY-…); WAYBILL_BACKUP_IDENTITY unless given",
  );
}

/** Makes the option that names whom a backup is encrypted for; it may be given several times. */
export function recipientOption(): Option {
  return new Option(
    "--encrypt-to <recipient>",
    "encrypt it for whoever has the identity of this recipient of age (age1…); may be given several times; WAYBILL_BACKUP_ENCRYPT_TO unless given",
  ).argParser((given: string, before: string[] | undefined) => {
    // What was given is not repeated: whoever took the wrong line gave the identity.
    if (!isRecipient(given))
      throw new UsageError("--encrypt-to takes a recipient of age, all of the age1… that age-keygen prints");
    return [...(before ?? []), given];
  });
}

/** Tells where the identities come from: the file that was named, or the configuration. Nothing is read before they are needed. */
export function identitiesOf({ identity }: IdentityFlag): Identities {
  return async () => {
    if (identity === undefined) return readConfig().backups.identities;
    const found = parseIdentities(await readFile(identity, "utf8"));
    if (found !== undefined) return found;
    throw new UsageError(`${identity} holds no identity of age: these begin with AGE-SECRET-KEY-`);
  };
}

/** Reads the secret key that a server of this configuration would have; undefined when it would make one. */
export function presentSecretKey({ secretKey, dataDir }: Config): string | undefined {
  const file = join(dataDir, "secret-key");
  return secretKey ?? (existsSync(file) ? readFileSync(file, "utf8").trim() : undefined);
}

/** Whom a backup is encrypted for, and the secret key that goes into it, if any. */
interface BackupEncryption {
  /** None: it is not encrypted. */
  recipients: readonly string[];
  secretKey?: string;
}

/** Reads how a backup is encrypted. @throws UsageError for what does not go together. */
export function encryptionOf(
  { encryptTo, withSecretKey }: EncryptionFlags,
  evidence?: string,
): BackupEncryption {
  const config = readConfig();
  const recipients = encryptTo ?? config.backups.encryptTo;
  const isPlain = recipients.length === 0;
  if (!isPlain && evidence === "new")
    throw new UsageError(
      "An encrypted backup stands for itself, because what others have cannot be looked up in them: take evidence full or none",
    );
  if (withSecretKey !== true) return { recipients };
  if (isPlain)
    throw new UsageError("--with-secret-key needs --encrypt-to: the key goes into encrypted backups only");
  const secretKey = presentSecretKey(config);
  if (secretKey === undefined)
    throw new UsageError("There is no secret key yet: a server makes one when it first starts");
  return { recipients, secretKey };
}
