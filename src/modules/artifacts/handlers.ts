import type { artifactEndpoints } from "../../contract/artifacts.ts";
import type { Handlers } from "../call.ts";

export const artifactHandlers: Handlers<typeof artifactEndpoints> = {};
