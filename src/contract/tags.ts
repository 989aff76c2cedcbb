import type { Endpoints } from "./endpoint.ts";

export const tagEndpoints = {} satisfies Endpoints;
