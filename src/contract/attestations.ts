import type { Endpoints } from "./endpoint.ts";

export const attestationEndpoints = {} satisfies Endpoints;
