import type { Endpoints } from "./endpoint.ts";

export const auditEndpoints = {} satisfies Endpoints;
