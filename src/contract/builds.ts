import type { Endpoints } from "./endpoint.ts";

export const buildEndpoints = {} satisfies Endpoints;
