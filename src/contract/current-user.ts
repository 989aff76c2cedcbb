import { z } from "zod";

import { principalKinds } from "../domain/principal.ts";
import { Timestamp } from "./common.ts";

/** A session of somebody at a browser. It ends at `expires_at` at the latest, and at `idle_expires_at` unless it is used. */
export const Session = z
  .object({
    id: z.string(),
    created_at: Timestamp,
    /** Written down now and then: up to half a minute late. */
    last_used_at: Timestamp,
    expires_at: Timestamp,
    idle_expires_at: Timestamp,
    /** The key it was begun with, whose end it shares; null when it was begun otherwise. */
    api_key_id: z.string().nullable(),
    /** What the browser called itself when it signed in. */
    user_agent: z.string(),
    /** Where it signed in from, as the server saw it. */
    address: z.string(),
    /** The sign-in provider at which it was begun, by its issuer; null for one begun otherwise. */
    issuer: z.string().nullable(),
    /** When the person proved there who they are; null where the provider does not say, and for sessions begun otherwise. */
    proved_at: Timestamp.nullable(),
    /** Whether this request came with it. */
    is_current: z.boolean(),
  })
  .meta({ id: "Session" });

/** Who calls. Texts that somebody does not have are empty. */
export const CurrentUser = z
  .object({
    kind: z.enum(principalKinds),
    id: z.string(),
    name: z.string(),
    display_name: z.string(),
    email: z.string(),
    is_instance_admin: z.boolean(),
    default_org_name: z.string(),
    /** Null for a request with a key. */
    session: Session.nullable(),
  })
  .meta({ id: "CurrentUser" });
export type CurrentUser = z.output<typeof CurrentUser>;
