import { createToken } from "../../../lib/token.ts";
import { deleteSessionByToken, type ProviderProof } from "../../kernel/access/session-service.ts";
import type { Tx } from "../../../db/connect.ts";
import { lockName } from "../../../db/lock.ts";
import { transaction } from "../../../db/transaction.ts";
import { callbackPath, readFlow, type SignInFlow, writeFlow } from "../../../domain/sign-in/flow.ts";
import { type Claims, groupsAt, textAt, userNameOf, verifiedEmail } from "../../../domain/sign-in/claims.ts";
import { mapGroups, type MappedRoles } from "../../../domain/sign-in/role-mapping.ts";
import { safeNext } from "../../../domain/sign-in/next-address.ts";
import { equalInConstantTime, sha256 } from "../../../lib/hash.ts";
import { paced } from "../../../lib/steps.ts";
import type { OidcSettings } from "../../../config-oidc.ts";
import { appendInstanceEntry, appendRecord, type Recorder, recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Actor } from "../../../domain/principal.ts";
import { invalid } from "../../../domain/errors.ts";
import { applyMapping } from "../members/mapping-service.ts";
import { endSessionsWithoutRole, recordRevoked } from "../members/session-service.ts";
import { attemptSignIn } from "../sessions/attempt-service.ts";
import {
  actorOf,
  arrivingUser,
  beginSession,
  recordSignIn,
  type SignInDeps,
  type Visitor,
} from "../sessions/service.ts";
import { createUserLike } from "../users/naming-service.ts";
import { getUserByName, setInstanceAdmin } from "../users/service.ts";
import { type ProvedPerson, type SignInProvider, SignInRefused } from "./provider-service.ts";
import {
  findIdentityForUpdate,
  type Identity,
  insertIdentity,
  type KnownUser,
  updateIdentity,
} from "./store.ts";

type FlowDeps = Pick<Deps, "clock" | "links" | "secrets">;

/** How somebody begins to sign in at the provider. */
interface Beginning {
  /** Where to go on to, as the browser says it. */
  next: unknown;
  /** Whether they have to prove anew who they are. */
  renew: boolean;
  /** What the cookie of the browser's session holds; undefined without one. */
  session: string | undefined;
}

/**
 * Begins to sign somebody in at the provider.
 * @returns where to send the browser, and what it has to bring back, which only we can read.
 * @throws AppError unavailable when the provider is away.
 */
export async function beginAtProvider(
  deps: FlowDeps,
  provider: SignInProvider,
  { next, renew, session }: Beginning,
): Promise<{ address: URL; sealed: string }> {
  const checks = { state: createToken(), nonce: createToken(), verifier: createToken(), renew };
  const address = await provider.begin(checks, deps.links.web(callbackPath));
  const replaces = session === undefined ? null : sha256(session).toString("hex");
  const flow = writeFlow({ ...checks, next: safeNext(next), replaces, begun_at: deps.clock.now() });
  return { address, sealed: deps.secrets.seal(flow).toString("base64url") };
}

function openFlow({ clock, secrets }: FlowDeps, sealed: string | undefined): SignInFlow | undefined {
  if (sealed === undefined) return undefined;
  let text: string;
  try {
    text = secrets.open(Buffer.from(sealed, "base64url"));
  } catch {
    return undefined;
  }
  return readFlow(text, clock.now());
}

/** Finds the user of an identity, or makes one. @returns also whether they are new. */
async function userOf(
  deps: SignInDeps,
  tx: Tx,
  identity: Identity,
  { claims, settings }: { claims: Claims; settings: OidcSettings },
): Promise<{ user: KnownUser; isNew: boolean }> {
  await lockName(tx, `identity ${identity.issuer} ${identity.subject}`);
  const known = await findIdentityForUpdate(tx, identity);
  if (known !== undefined) return { user: known, isNew: false };
  const display_name = textAt(claims, "name");
  const made = await createUserLike(deps, tx, {
    name: userNameOf(textAt(claims, settings.nameClaim)),
    email: verifiedEmail(claims),
    display_name,
    by: { changed_by: "sign-in provider", source: "idp" },
  });
  const isTheirs = await insertIdentity(tx, {
    ...identity,
    user_id: made.user_id,
    created_at: deps.clock.now(),
  });
  // They were a user who was removed; nobody else becomes that one again.
  if (!isTheirs) throw new SignInRefused("USER_REMOVED");
  const user = {
    id: made.user_id,
    name: made.name,
    display_name: display_name ?? made.name,
    instance_admin: false,
    made_admin: false,
    personal_org_id: made.org_id,
    disabled_at: null,
  };
  return { user, isNew: true };
}

/**
 * Makes a user run the installation when their groups say so, or no longer when groups did before. The last administrator stays.
 * @returns whether they run it, and whether because of their groups.
 */
async function applyInstanceAdmin(
  deps: SignInDeps,
  tx: Tx,
  user: KnownUser,
  wanted: boolean,
): Promise<Pick<KnownUser, "instance_admin" | "made_admin">> {
  const { id, name, instance_admin, made_admin } = user;
  if (wanted === instance_admin || (!wanted && !made_admin)) return { instance_admin, made_admin };
  if (await setInstanceAdmin(tx, id, wanted)) return { instance_admin: wanted, made_admin: wanted };
  deps.log.warn({ user: name }, "groups would remove the last instance administrator, who stays");
  return { instance_admin, made_admin };
}

/** Longest ID token that is kept, to be shown to the provider in an address when the person signs out. */
const longestIdToken = 4096;

/** Gives what the session keeps of the provider's word. */
function proofOf(
  deps: Pick<Deps, "clock" | "secrets">,
  { issuer }: OidcSettings,
  { subject, session, idToken, provedAt }: ProvedPerson,
): ProviderProof {
  const isShort = idToken !== "" && idToken.length <= longestIdToken;
  return {
    issuer,
    subject,
    provider_session: session,
    id_token: isShort ? deps.secrets.seal(idToken) : null,
    // Never in the future, whose end would come late.
    proved_at: provedAt === null ? null : Math.min(provedAt, deps.clock.now()),
  };
}

interface Arriving {
  settings: OidcSettings;
  visitor: Visitor;
  person: ProvedPerson;
  mapped: MappedRoles;
  /** SHA-256 of the session that the browser had, in hexadecimal. */
  replaces: string | null;
}

/** Signs a proved person in, all in one transaction. @returns the session's token; undefined for a user who may not sign in. */
function arrive(deps: SignInDeps & FlowDeps, arriving: Arriving): Promise<string | undefined> {
  const { settings, visitor, person, mapped, replaces } = arriving;
  const identity = { issuer: settings.issuer, subject: person.subject };
  return transaction(deps.db, async (tx) => {
    const { user, isNew } = await userOf(deps, tx, identity, { claims: person.claims, settings });
    if (user.disabled_at !== null) return undefined;
    const admin = await applyInstanceAdmin(deps, tx, user, mapped.instance_admin);
    const changed = await applyMapping(deps, tx, { user_id: user.id, user: user.name }, mapped);
    const owner = arrivingUser({ ...user, ...admin });
    const actor = actorOf(visitor, owner);
    const changesRoles = changed.length > 0 || admin.instance_admin !== user.instance_admin;
    const ended = changesRoles ? await endSessionsWithoutRole(deps, tx, user.id) : undefined;
    const recordIn =
      (orgId: string, action: string): Recorder =>
      (resource_type, resource) =>
        appendRecord(
          deps,
          tx,
          { org: { id: orgId }, actor: { ...actor, action } },
          { resource_type, resource },
        );
    const home = user.personal_org_id;
    if (replaces !== null) await deleteSessionByToken(tx, user.id, Buffer.from(replaces, "hex"));
    const { id, token } = await beginSession(deps, tx, {
      owner,
      browser: visitor.browser,
      proof: proofOf(deps, settings, person),
      record: recordIn(home, "sign_in"),
    });
    await updateIdentity(tx, identity, { at: deps.clock.now(), made_admin: admin.made_admin });
    if (isNew) recordIn(home, "sign_in")("user", user.name);
    if (admin.instance_admin !== user.instance_admin) recordIn(home, "role_mapped")("user", user.name);
    for (const { org_id } of changed) recordIn(org_id, "role_mapped")("member", user.name);
    if (ended !== undefined) recordRevoked(deps, tx, actor, ended);
    if (changesRoles)
      appendInstanceEntry(deps, tx, {
        actor,
        action: "role_mapped",
        resource_type: "user",
        resource: user.name,
        details: { organizations: changed.length },
      });
    recordSignIn(deps, tx, actor, { method: "oidc", id });
    return token;
  });
}

/** Where a person goes who has signed in, and what the cookie has to hold. */
export interface Arrived {
  token: string;
  next: string;
}

/**
 * Signs in who comes back from the provider. Who sent no sign-in on its way from this browser proves nothing.
 * @param came what the browser brought back, and the parameters of the address.
 * @throws AppError unauthenticated, rate_limited: see `attemptSignIn`; unavailable when the provider is away.
 */
export function finishAtProvider(
  deps: SignInDeps & FlowDeps,
  { settings, provider }: { settings: OidcSettings; provider: SignInProvider },
  visitor: Visitor,
  came: { sealed: string | undefined; parameters: URLSearchParams },
): Promise<Arrived> {
  return attemptSignIn(deps, { method: "oidc", ...visitor }, async () => {
    const flow = openFlow(deps, came.sealed);
    if (flow === undefined || !equalInConstantTime(came.parameters.get("state") ?? "", flow.state))
      return undefined;
    const callback = new URL(deps.links.web(callbackPath));
    callback.search = came.parameters.toString();
    try {
      const person = await provider.finish(flow, callback);
      const groups = groupsAt(person.claims, settings.groupsClaim) ?? [];
      const mapped = await paced(mapGroups(settings.rules, groups));
      const token = await arrive(deps, { settings, visitor, person, mapped, replaces: flow.replaces });
      return token === undefined ? undefined : { token, next: flow.next };
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error;
      deps.log.warn({ reason: error.message }, "the sign-in provider's answer proves nobody");
      return undefined;
    }
  });
}

/**
 * Says which user somebody of the provider is here, before they sign in for the first time.
 * @throws AppError not_found for an unknown user, invalid for somebody who is a user already.
 */
export async function linkIdentity(
  deps: Pick<Deps, "db" | "clock">,
  actor: Actor,
  link: Identity & { user: string },
): Promise<void> {
  const user = await getUserByName(deps, link.user);
  await recorded(deps, { org: { id: user.personal_org_id }, actor }, async (tx, record) => {
    if (!(await insertIdentity(tx, { ...link, user_id: user.id, created_at: deps.clock.now() })))
      throw invalid(`'${link.subject}' is a user already`);
    record("user", user.name);
  });
}
