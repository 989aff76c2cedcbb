import type { Endpoint, Endpoints, Input, Reply } from "../contract/endpoint.ts";
import type { Actor, OrgAccess, Principal } from "../domain/principal.ts";
import type { Deps } from "./deps.ts";

type OrgOf<E extends Endpoint> = E["access"] extends { kind: "organization" } ? OrgAccess : undefined;

type PrincipalOf<E extends Endpoint> = E["access"] extends
  | { kind: "user" | "instance_admin" }
  | { kind: "organization"; anonymous: false }
  ? Principal
  : Principal | undefined;

/** One authenticated, authorized and parsed request. */
export interface Call<E extends Endpoint> extends Input<E> {
  org: OrgOf<E>;
  principal: PrincipalOf<E>;
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
