import type { Endpoints } from "./endpoint.ts";

export const repoEndpoints = {} satisfies Endpoints;
