import type { Endpoints } from "./endpoint.ts";

export const spaceEndpoints = {} satisfies Endpoints;
