import type { Endpoints } from "./endpoint.ts";

export const environmentEndpoints = {} satisfies Endpoints;
