import type { Endpoints } from "./endpoint.ts";

export const memberEndpoints = {} satisfies Endpoints;
