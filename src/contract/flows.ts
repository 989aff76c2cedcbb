import type { Endpoints } from "./endpoint.ts";

export const flowEndpoints = {} satisfies Endpoints;
