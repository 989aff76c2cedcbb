import type { Endpoints } from "./endpoint.ts";

export const serviceAccountEndpoints = {} satisfies Endpoints;
