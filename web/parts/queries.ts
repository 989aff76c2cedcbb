import { ask } from "../api/queries.ts";

/** Asks for all policies. */
export function policiesQuery(org: string) {
  return ask("GET /policies/{org}", { params: { org } });
}

/** Asks for all of the organization's own types of attestations that are not archived. */
export function ownTypesQuery(org: string) {
  return ask("GET /custom-attestation-types/{org}", { params: { org } });
}

/** Asks who allowed what, in all environments. */
export function allowListQuery(org: string) {
  return ask("GET /allowlists/{org}", { params: { org } });
}

/** Asks for some environments whose names have this part, to choose from. */
export function environmentNamesQuery(org: string, name: string) {
  return ask("GET /environments/{org}", {
    params: { org },
    query: { name: name === "" ? undefined : name, page: 1, per_page: 20 },
  });
}
