import type { CommandPlace } from "../domain/commands.ts";
import { basePath } from "./client.ts";

/** Says where commands go that do what this page does. */
export function commandPlace(org: string): CommandPlace {
  return { server: `${location.origin}${basePath.replace(/\/$/, "")}`, org };
}
