import type { Endpoints } from "./endpoint.ts";

export const artifactEndpoints = {} satisfies Endpoints;
