import { z } from "zod";

import { keyRuleLimits } from "../domain/key-rules.ts";
import { apiKeyDescriptionLength, latestExpiry } from "../domain/names.ts";
import { integer, Timestamp } from "./common.ts";
import { RoleName } from "./role.ts";

const longestNetwork = 64;

/** Networks in CIDR notation, or single addresses; the handler refuses what is neither. */
export const AddressList = z.array(z.string().max(longestNetwork)).max(keyRuleLimits.addresses);

/** What a key may less than its owner, where it does. */
const limits = {
  /** The most it may in any organization. */
  role: RoleName.optional(),
  /** The networks it works from, in CIDR notation. */
  allowed_addresses: z.array(z.string()).optional(),
};

/** When a key expires, in Unix seconds; 0 for never. The handler refuses times in the past. */
const ExpiresAt = integer().max(latestExpiry).nullish();

/**
 * A working key (interface spec 2). `expires_at` and `last_used_at` are 0 for never. A rotated key also says when it
 * was last rotated, and when the last of its former secrets ends; one that is for less than its owner, for what; one that rules end, when.
 */
export const ApiKey = z
  .object({
    id: z.string(),
    description: z.string(),
    created_at: Timestamp,
    expires_at: Timestamp,
    last_used_at: Timestamp,
    rotated_at: Timestamp.optional(),
    grace_period_expires_at: Timestamp.optional(),
    ...limits,
    /** When rules of the installation, or of a service account's organization, end it. */
    deadline_at: Timestamp.optional(),
  })
  .meta({ id: "ApiKeyListItemResponse" });

/** A new key with its value, which is never shown again. */
export const CreatedApiKey = z
  .object({
    id: z.string(),
    key: z.string(),
    description: z.string(),
    created_at: Timestamp,
    expires_at: Timestamp,
    ...limits,
  })
  .meta({ id: "ApiKeyCreatedResponse" });

/** A rotated key with its new value, which is never shown again, and until when the former one works. */
export const RotatedApiKey = CreatedApiKey.extend({ grace_period_expires_at: Timestamp }).meta({
  id: "ApiKeyRotatedResponse",
});

/** Body of a new key. */
export const ApiKeyPostInput = z
  .object({
    description: z.string().min(apiKeyDescriptionLength.min).max(apiKeyDescriptionLength.max),
    expires_at: ExpiresAt,
    /** The most that the key may in any organization, and never more than its owner; null for as much. */
    role: RoleName.nullish(),
    /** Networks in CIDR notation that it works from; null or none for everywhere, or for those of the key that makes it. */
    allowed_addresses: AddressList.nullish(),
  })
  .meta({ id: "ApiKeyPostInput" });

/** Body of a rotation. Without `expires_at` the key keeps its end. */
export const ApiKeyRotateInput = z
  .object({
    grace_period_hours: integer().min(1).max(720).default(24),
    expires_at: ExpiresAt,
  })
  .meta({ id: "ApiKeyRotateInput" });
