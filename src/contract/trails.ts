import type { Endpoints } from "./endpoint.ts";

export const trailEndpoints = {} satisfies Endpoints;
