import { z } from "zod";

import {
  chosenKeyPattern,
  displayNameLength,
  organizationNameLength,
  organizationNamePattern,
} from "../../domain/names.ts";

const Name = z
  .string()
  .min(organizationNameLength.min)
  .max(organizationNameLength.max)
  .regex(organizationNamePattern);

const SeedUser = z.strictObject({
  name: Name,
  email: z.email().max(320).optional(),
  display_name: z.string().max(displayNameLength).optional(),
  instance_admin: z.boolean().optional(),
  api_keys: z
    .array(z.string().regex(chosenKeyPattern, "must be 20 to 512 printable ASCII characters without blanks"))
    .default([]),
  shared_organizations: z.array(Name).default([]),
});

/**
 * Users to begin with (I7). Each gets a personal organization of the same name and the keys listed, and is admin of
 * the shared organizations listed; one listed by several users is shared by them.
 */
export const Seed = z.strictObject({ users: z.array(SeedUser) });

export type Seed = z.output<typeof Seed>;
