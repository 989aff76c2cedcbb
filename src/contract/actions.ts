import type { Endpoints } from "./endpoint.ts";

export const actionEndpoints = {} satisfies Endpoints;
