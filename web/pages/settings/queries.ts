import type { AnswerOf } from "../../api/contract.ts";
import { alone, ask } from "../../api/queries.ts";
import { positive, reads, text } from "../../domain/search-params.ts";

export type Organization = AnswerOf<"GET /organizations/{org}">;
export type Member = AnswerOf<"GET /members/{org}">[number];
export type Invitation = AnswerOf<"GET /members/{org}/invitations">["data"][number];
export type ServiceAccount = AnswerOf<"GET /service-accounts/{org}">[number];

/** What the address of the members says: a part of a name, and the page of invitations. */
export const membersSearch = reads({ q: text, page: positive });

/** What the address of the service accounts says: whose keys are shown. */
export const accountsSearch = reads({ open: text });

/** Asks for an organization's settings. */
export const organizationQuery = (org: string) => alone(ask("GET /organizations/{org}", { params: { org } }));

/** Asks for an organization's rules for keys and addresses. */
export const securityQuery = (org: string) =>
  alone(ask("GET /organizations/{org}/security", { params: { org } }));

/** Asks for all members; the list has no pages. */
export const membersQuery = (org: string) => alone(ask("GET /members/{org}", { params: { org } }));

/** Asks for invitations that were not accepted yet. */
export const invitationsQuery = (org: string, page: number) =>
  ask("GET /members/{org}/invitations", { params: { org }, query: { page, per_page: 20 } });

/** Asks for all service accounts; the list has no pages. */
export const serviceAccountsQuery = (org: string) =>
  alone(ask("GET /service-accounts/{org}", { params: { org } }));

/** Asks for the keys of a service account. */
export const accountKeysQuery = (org: string, name: string) =>
  alone(ask("GET /service-accounts/{org}/{name}/api-keys", { params: { org, name } }));

/** Asks for the sessions of a member, of which nobody has more than a hundred. */
export const memberSessionsQuery = (org: string, user: string) =>
  ask("GET /members/{org}/{user}/sessions", { params: { org, user }, query: { page: 1, per_page: 100 } });
