import type { Endpoints } from "./endpoint.ts";

export const userEndpoints = {} satisfies Endpoints;
