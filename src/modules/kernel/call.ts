import type { CsvForm, CsvRows } from "../../contract/csv.ts";
import type { Endpoint, Endpoints, Input, Reply } from "../../contract/endpoint.ts";
import type { Actor, OrgAccess, Principal } from "../../domain/principal.ts";
import type { Deps } from "./deps.ts";

type OrgOf<E extends Endpoint> = E["access"] extends { kind: "organization" } ? OrgAccess : undefined;

type PrincipalOf<E extends Endpoint> = E["access"] extends { orMetricsToken: true }
  ? Principal | undefined
  : E["access"] extends { kind: "user" | "instance_admin" } | { kind: "organization"; anonymous: false }
    ? Principal
    : Principal | undefined;

/** What a gate found out about a call whose signature is still to be checked over its body. */
export interface Admission {
  /** Calls with the same text share what their bodies may take of memory. */
  share: string;
  /** What the gate found, for the handler. */
  subject: unknown;
}

/** All of a request but its body: what a gate decides by. */
interface Approach {
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

/** The other end of a connection: a caller, or a proxy. */
export interface Peer {
  address: string;
  /** Whether the connection comes from this machine, and no proxy passes it on. */
  isThisMachine: boolean;
  /** Whether API keys count on the connection: not without a client certificate where one is needed. */
  mayUseKeys: boolean;
}

/** One authenticated, authorized and parsed request. */
export interface Call<E extends Endpoint> extends Input<E> {
  org: OrgOf<E>;
  principal: PrincipalOf<E>;
  /** What the endpoint's gate found out. */
  admission: AdmissionOf<E>;
  /** The caller as records name it; anonymous readers write nothing. */
  actor: Actor;
  /** Finds out once more whether the caller may call, for what takes long. @throws AppError when they may not any more. */
  authorizeAgain: () => Promise<unknown>;
  /** Who is at the other end of the connection. */
  peer: Peer;
  /** Bytes of the body, without the files that came with it. */
  bodyBytes: number;
  /** Absolute URL as requested, query included, on the public base. */
  url: string;
  /** Path as requested, without the query. */
  path: string;
  headers: Record<string, string | string[] | undefined>;
}

/** What a kept answer may depend on: nothing about who asks but the role. */
export type KeptCall<E extends Endpoint> = Pick<Call<E>, "params" | "query" | "org" | "url" | "path">;

/** What the handler of an endpoint is told. */
type CallOf<E extends Endpoint> = E extends { kept: true } ? KeptCall<E> : Call<E>;

export type Handler<E extends Endpoint> = (deps: Deps, call: CallOf<E>) => Promise<Reply<E>>;

/** One handler for each endpoint: a missing one, or one with a wrong reply, does not compile. */
export type Handlers<Es extends Endpoints> = { [Id in keyof Es]: Handler<Es[Id]> };

/**
 * Finds the rows of a list for CSV: all that match, without regard to the page asked for. Whatever can fail because of the
 * request does so before it answers; later the answer would break off.
 */
type CsvHandler<E extends Endpoint> = (deps: Deps, call: Call<E>) => Promise<CsvRows>;

/** One such handler for each endpoint whose list can be had as CSV. */
export type CsvHandlers<Es extends Endpoints> = {
  [Id in keyof Es as Es[Id]["responses"] extends { 200: { csv: CsvForm } } ? Id : never]: CsvHandler<Es[Id]>;
};
