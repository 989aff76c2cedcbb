import type { Endpoints } from "./endpoint.ts";

export const qualityEndpoints = {} satisfies Endpoints;
