import type { Endpoint, Endpoints, Input, Reply } from "../contract/endpoint.ts";
import type { Actor, OrgAccess, Principal } from "../domain/principal.ts";
import type { Deps } from "./deps.ts";

type OrgOf<E extends Endpoint> = E["access"] extends { kind: "organization" } ? OrgAccess : undefined;

type PrincipalOf<E extends Endpoint> = E["access"] extends
  | { kind: "user" | "instance_admin" }
  | { kind: "organization"; anonymous: false }
  ? Principal
  : Principal | undefined;

/** What is known of a call whose signature is still to be checked over its body. */
export interface Admission {
  /** Who shares with whom what such bodies may take of memory. */
  share: string;
  /** What the handler goes on with. */
  subject: unknown;
}

/** What a gate goes by: all of a request but its body. */
export interface Approach {
  params: Record<string, string>;
  headers: Record<string, string | string[] | undefined>;
  principal: Principal | undefined;
}

/**
 * Decides before a body is read whether it is worth reading: for endpoints that check a signature over it themselves.
 * @throws AppError for a call that cannot be genuine, whatever its body.
 */
export type Gate = (deps: Deps, approach: Approach) => Promise<Admission>;

/** A gate for each endpoint that lets callers in by their signature. */
export type Gates<Es extends Endpoints> = {
  [Id in keyof Es as Es[Id]["access"] extends { kind: "signature" } ? Id : never]: Gate;
};

type AdmissionOf<E extends Endpoint> = E["access"] extends { kind: "signature" } ? Admission : undefined;

/** One authenticated, authorized and parsed request. */
export interface Call<E extends Endpoint> extends Input<E> {
  org: OrgOf<E>;
  principal: PrincipalOf<E>;
  /** What the endpoint's gate found out. */
  admission: AdmissionOf<E>;
  /** The caller as records name it; anonymous readers write nothing. */
  actor: Actor;
  /** Absolute URL as requested, query included, on the public base. */
  url: string;
  /** Path as requested, without the query. */
  path: string;
  headers: Record<string, string | string[] | undefined>;
}

export type Handler<E extends Endpoint> = (deps: Deps, call: Call<E>) => Promise<Reply<E>>;

/** One handler for each endpoint: a missing one, or one with a wrong reply, does not compile. */
export type Handlers<Es extends Endpoints> = { [Id in keyof Es]: Handler<Es[Id]> };
