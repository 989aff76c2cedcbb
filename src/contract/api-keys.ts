import { z } from "zod";

import { apiKeyDescriptionLength, latestExpiry } from "../domain/names.ts";
import { integer, Timestamp } from "./common.ts";

/** Unix seconds; 0 for a key that never expires. That it is not past is checked against the clock. */
const ExpiresAt = integer().max(latestExpiry).nullish();

/**
 * A working key (interface spec 2). `expires_at` and `last_used_at` are 0 for never. The last two are there once it was
 * rotated: when that was last, and when the last of its former secrets ends.
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

export const ApiKeyPostInput = z
  .object({
    description: z.string().min(apiKeyDescriptionLength.min).max(apiKeyDescriptionLength.max),
    expires_at: ExpiresAt,
  })
  .meta({ id: "ApiKeyPostInput" });

export const ApiKeyRotateInput = z
  .object({
    grace_period_hours: integer().min(1).max(720).default(24),
    expires_at: ExpiresAt,
  })
  .meta({ id: "ApiKeyRotateInput" });
