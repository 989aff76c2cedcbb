import { z } from "zod";

import { apiKeyDescriptionLength, latestExpiry } from "../domain/names.ts";
import { integer, Timestamp } from "./common.ts";

/** When a key expires, in Unix seconds; 0 for never. The handler refuses times in the past. */
const ExpiresAt = integer().max(latestExpiry).nullish();

/**
 * A working key (interface spec 2). `expires_at` and `last_used_at` are 0 for never. A rotated key also says when it
 * was last rotated, and when the last of its former secrets ends.
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
  })
  .meta({ id: "ApiKeyPostInput" });

/** Body of a rotation. Without `expires_at` the key keeps its end. */
export const ApiKeyRotateInput = z
  .object({
    grace_period_hours: integer().min(1).max(720).default(24),
    expires_at: ExpiresAt,
  })
  .meta({ id: "ApiKeyRotateInput" });
