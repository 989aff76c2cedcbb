import type { Endpoints } from "./endpoint.ts";

export const systemEndpoints = {} satisfies Endpoints;
