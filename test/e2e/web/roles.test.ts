import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";

import { operationAccess } from "../../../web/api/operations.ts";
import { roles, roleUnknown } from "../../../web/domain/roles.ts";
import { hasBrowser } from "../../support/browser.ts";
import { makeOneOfEach, type OneOfEach } from "../../support/one-of-each.ts";
import { operationsOfPages } from "../../support/operations-of-pages.ts";
import { amount } from "../../support/thorough.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { holdAnswers } from "../../support/web-page.ts";
import { openSite, untilSettled, type WebSite } from "../../support/web.ts";

type Operation = keyof typeof operationAccess;
type Role = (typeof roles)[number] | "nobody";
const everybody: readonly Role[] = [...roles, "nobody"];

/** A control of a page that does something, by the name it has for people. */
interface Control {
  operation: Operation;
  name: string;
  /** Why it may be disabled for those who may, too. */
  notNow?: readonly string[];
  /** Whoever may not do this does not see it. */
  shownTo?: Operation;
  /** The button that shows it. */
  behind?: string;
  /** Only who made the thing, or is an admin, whatever the contract's role. */
  isOwn?: boolean;
  body?: object;
}

const unchanged = ["Nothing was changed"];
const unchecked = ["The text has to be without mistakes", "It has to be without mistakes", ...unchanged];

/** All pages with actions below an organization's address, and what can be done there. */
function pagesOf(of: OneOfEach): Record<string, Control[]> {
  const account: Partial<Control> = { isOwn: true, body: { description: "x" } };
  return {
    environments: [{ operation: "PUT /environments/{org}", name: "New environment" }],
    "environments/-/new": [
      {
        operation: "PUT /environments/{org}",
        name: "Make the environment",
        notNow: ["Choose a type first"],
      },
    ],
    flows: [{ operation: "PUT /flows/{org}/template_file", name: "New flow" }],
    "flows/-/new": [{ operation: "PUT /flows/{org}/template_file", name: "Make the flow" }],
    [`environments/${of.env}/settings`]: [
      { operation: "PATCH /environments/{org}/{env_name}", name: "Save the description", notNow: unchanged },
      { operation: "PUT /environments/{org}/{env_name}/silence", name: "Save the limit" },
      { operation: "PUT /environments/{org}/{env_name}/rename", name: "Rename" },
      { operation: "PUT /environments/{org}/{env_name}/archive", name: "Archive" },
      { operation: "PATCH /environments/{org}/{env_name}", name: "Move it there", notNow: unchanged },
      { operation: "PATCH /tags/{org}/{resource_type}/{resource_id}", name: "Set the tag" },
      { operation: "POST /environments/{org}/{env_name}/policies", name: "Attach a policy" },
      { operation: "DELETE /environments/{org}/{env_name}/policies", name: `Detach ${of.policy}` },
    ],
    [`environments/${of.archivedEnv}/settings`]: [
      { operation: "PUT /environments/{org}/{env_name}/unarchive", name: "Take out of the archive" },
    ],
    [`environments/${of.env}/allow-list`]: [
      { operation: "PUT /allowlists/{org}/{env_name}", name: "Allow an artifact" },
      { operation: "DELETE /allowlists/{org}/{env_name}/{fingerprint}", name: "Allow artifact no more" },
    ],
    "allow-list": [
      { operation: "PUT /allowlists/{org}/{env_name}", name: "Allow an artifact" },
      { operation: "DELETE /allowlists/{org}/{env_name}/{fingerprint}", name: "Remove artifact in prod" },
    ],
    [`flows/${of.flow}/settings`]: [
      { operation: "PUT /flows/{org}/{flow_name}/rename", name: "Rename" },
      { operation: "PUT /flows/{org}/{flow_name}/archive", name: "Archive this flow" },
      { operation: "PATCH /tags/{org}/{resource_type}/{resource_id}", name: "Set the tag" },
      { operation: "PATCH /tags/{org}/{resource_type}/{resource_id}", name: "Remove tag tier" },
    ],
    [`flows/${of.archivedFlow}/settings`]: [
      { operation: "PUT /flows/{org}/{flow_name}/unarchive", name: "Take it out of the archive" },
    ],
    [`flows/${of.flow}/template`]: [
      // Who may not check what they write reads it.
      { operation: "POST /flows/{org}/template/check", name: "Save…", notNow: unchecked },
      { operation: "PUT /flows/{org}/template_file", name: "Save…", notNow: unchecked },
    ],
    [`flows/${of.flow}/trails/${of.trail}?attestation_id=${of.attestations["generic"]}`]: [
      {
        operation: "POST /attestations/{org}/{flow_name}/trail/{trail_name}/override",
        name: "Override…",
      },
    ],
    policies: [{ operation: "PUT /policies/{org}", name: "New policy" }],
    [`policies/${of.policy}`]: [
      { operation: "POST /environments/{org}/{env_name}/policies", name: "Attach" },
      { operation: "DELETE /environments/{org}/{env_name}/policies", name: "Detach from prod" },
    ],
    [`policies/${of.policy}/edit`]: [
      { operation: "PUT /policies/{org}", name: "Save…", notNow: unchecked },
      { operation: "POST /policies/{org}/preview", name: "Preview", notNow: ["Choose an environment first"] },
    ],
    actions: [
      { operation: "GET /actions/{org}/signing-secret", name: "Signing secret" },
      { operation: "POST /actions/{org}/signing-secret/rotate", name: "Signing secret" },
      { operation: "PUT /actions/{org}/environments", name: "New action" },
    ],
    "actions/-/new": [
      {
        operation: "PUT /actions/{org}/environments",
        name: "Make the action",
        notNow: ["Choose an environment first"],
      },
    ],
    "actions/-/new?type=flow": [
      { operation: "PUT /actions/{org}/flows", name: "Make the action", notNow: ["Choose a flow first"] },
    ],
    "actions/1": [
      { operation: "DELETE /actions/{org}/{action_number}", name: "Delete" },
      {
        operation: "POST /actions/{org}/{action_number}/deliveries/{delivery_id}/replay",
        name: "Replay",
        shownTo: "GET /actions/{org}/{action_number}/deliveries",
      },
    ],
    "actions/1?edit=true": [
      {
        operation: "PUT /organizations/{org}/environments_notifications/{notification_number}",
        name: "Save",
      },
    ],
    controls: [{ operation: "POST /controls/{org}", name: "New control" }],
    [`controls/${of.control}`]: [
      { operation: "PUT /controls/{org}/{identifier}", name: "Edit" },
      { operation: "POST /controls/{org}/{identifier}/archive", name: "Retire" },
    ],
    [`controls/${of.archivedControl}`]: [
      { operation: "POST /controls/{org}/{identifier}/unarchive", name: "Bring back" },
    ],
    [`attestation-types/${of.type}`]: [
      {
        operation: "PUT /custom-attestation-types/{org}/{custom_attestation_type_name}/archive",
        name: "Archive",
      },
      { operation: "POST /custom-attestation-types/{org}", name: "Edit" },
      { operation: "POST /custom-attestation-types/{org}/try", name: "Try it" },
    ],
    "attestation-types": [{ operation: "POST /custom-attestation-types/{org}", name: "New type" }],
    spaces: [
      { operation: "POST /spaces/{org}", name: "New space" },
      { operation: "PATCH /environments/{org}/{env_name}", name: "Move prod" },
      { operation: "PATCH /flows/{org}/{flow_name}", name: `Move ${of.flow}` },
      {
        operation: "PATCH /spaces/{org}/{space_id}",
        name: "Rename",
        behind: `What to do with ${of.space}`,
      },
      { operation: "DELETE /spaces/{org}/{space_id}", name: "Delete" },
    ],
    "settings/general": [{ operation: "PATCH /organizations/{org}", name: "Save", notNow: unchanged }],
    "settings/members": [
      { operation: "PUT /members/{org}/{user}", name: "Add a member" },
      {
        operation: "PUT /members/{org}/{user}",
        name: `Change the role of ${of.member}`,
        shownTo: "GET /members/{org}",
      },
      {
        operation: "DELETE /members/{org}/{user}",
        name: `Remove ${of.member}`,
        shownTo: "GET /members/{org}",
      },
      {
        operation: "DELETE /members/{org}/{user}/sessions",
        name: `Sessions of ${of.member}`,
        shownTo: "GET /members/{org}",
      },
      { operation: "POST /members/{org}/invitations", name: "Invite" },
      {
        operation: "DELETE /members/{org}/invitations/{invitation_id}",
        name: `Take back the invitation of ${of.invited}`,
        shownTo: "GET /members/{org}/invitations",
      },
    ],
    [`settings/service-accounts?open=${of.account}`]: [
      { operation: "POST /service-accounts/{org}", name: "New service account" },
      {
        operation: "PATCH /service-accounts/{org}/{name}",
        name: `Change ${of.account}`,
        shownTo: "GET /service-accounts/{org}",
        ...account,
      },
      {
        operation: "DELETE /service-accounts/{org}/{name}",
        name: `Remove ${of.account}`,
        shownTo: "GET /service-accounts/{org}",
        ...account,
      },
      {
        operation: "POST /service-accounts/{org}/{name}/api-keys",
        name: `Keys of ${of.account}`,
        shownTo: "GET /service-accounts/{org}",
        ...account,
      },
      {
        operation: "POST /service-accounts/{org}/{name}/api-keys/{key_id}/rotate",
        name: `Keys of ${of.account}`,
        shownTo: "GET /service-accounts/{org}",
        ...account,
        body: {},
      },
      {
        operation: "DELETE /service-accounts/{org}/{name}/api-keys/{key_id}",
        name: `Keys of ${of.account}`,
        shownTo: "GET /service-accounts/{org}",
        ...account,
      },
    ],
    "settings/security": [
      {
        operation: "PUT /organizations/{org}/security",
        name: "Save",
        shownTo: "GET /organizations/{org}/security",
        body: {},
      },
    ],
    integrations: [
      { operation: "PUT /integrations/{org}/quality", name: "Change", shownTo: "GET /integrations/{org}" },
      {
        operation: "POST /integrations/{org}/quality/rotate-secret",
        name: "Replace the secret",
        shownTo: "GET /integrations/{org}",
      },
      {
        operation: "DELETE /integrations/{org}/quality",
        name: "Switch off",
        shownTo: "GET /integrations/{org}",
      },
      {
        operation: "POST /integrations/{org}/quality/deliveries/{delivery_id}/replay",
        name: "Replay",
        shownTo: "GET /integrations/{org}",
      },
    ],
    "audit-log": [{ operation: "GET /audit-log/{org}", name: "Export" }],
  };
}

/** What people do about themselves, which asks for no role. */
const aboutOneself: readonly string[] = Object.entries(operationAccess)
  .filter(([, access]) => access === "user" || access === "site")
  .map(([operation]) => operation);

/** Says whether the contract lets a role do something; nobody may what is open to all. */
function mayDo(role: Role, operation: Operation): boolean {
  const need = operationAccess[operation];
  if (need === "anybody" || need === "public") return true;
  const needed = roles.findIndex((one) => one === need);
  return role !== "nobody" && needed >= 0 && roles.indexOf(role) >= needed;
}

/** Says why not, in the words that pages have for it. */
function reasonFor(role: Role, operation: Operation): string {
  if (role === "nobody") return "Sign in as a member of this organization";
  return `You are ${role} here; this needs ${operationAccess[operation]}`;
}

function isAllowed(role: Role, { operation, isOwn }: Control): boolean {
  return mayDo(role, operation) && (isOwn !== true || role === "admin");
}

function isShown(role: Role, { shownTo }: Control): boolean {
  return shownTo === undefined || mayDo(role, shownTo);
}

/** Says whether a role finds a control otherwise than the role below or above it does. */
function isAtLimit(role: Role, control: Control): boolean {
  const ranks: Role[] = ["nobody", ...roles];
  const at = ranks.indexOf(role);
  const found = (one: Role): string => `${isShown(one, control)} ${isAllowed(one, control)}`;
  const beside = ranks.filter((_one, rank) => Math.abs(rank - at) === 1);
  return beside.some((one) => found(one) !== found(role));
}

/** Of so many pages every role sees one, whatever it may do there. */
const seenByAll = 8;

/** Takes the pages where a role is at the limit of what is shown or allowed, and some where it is not; or all of them. */
function pagesFor(role: Role, pages: Record<string, Control[]>): [path: string, controls: Control[]][] {
  const all = Object.entries(pages);
  const turn = everybody.indexOf(role);
  const usual = all.filter(
    ([, controls], index) =>
      index % seenByAll === turn || controls.some((control) => isAtLimit(role, control)),
  );
  return amount(usual, all);
}

const escaped = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&");

/** Says what is wrong with a control for a role. */
async function problemOf(page: Page, role: Role, control: Control): Promise<string | undefined> {
  const { operation, name, notNow, behind } = control;
  const isButton = { name: new RegExp(`^${escaped(name)}(?: ?\\(| |$)`) };
  if (behind !== undefined) await page.getByRole("button", { name: behind }).click();
  const found = page.getByRole("main").getByRole("button", isButton);
  const anywhere = found
    .or(page.getByRole("link", { name, exact: true }))
    .or(page.getByRole("dialog").getByRole("button", isButton));
  if (!isShown(role, control)) return (await anywhere.count()) === 0 ? undefined : "is shown";
  const one = anywhere.first();
  const isThere = await one.waitFor({ timeout: 15_000 }).then(
    () => true,
    () => false,
  );
  if (!isThere) return "is missing";
  const title = await one.getAttribute("title");
  const isDisabled = (await one.getAttribute("aria-disabled")) === "true";
  if (isAllowed(role, control)) {
    if (!isDisabled) return undefined;
    return title !== null && notNow?.includes(title) === true ? undefined : `is disabled: ${title}`;
  }
  const reason = mayDo(role, operation) ? "Only who made it and admins may" : reasonFor(role, operation);
  return isDisabled && title === reason ? undefined : `is ${isDisabled ? `disabled: ${title}` : "enabled"}`;
}

describe.skipIf(!hasBrowser)("roles", { timeout: 180_000 }, () => {
  let site: WebSite;
  let own: OwnOrganization;
  let made: OneOfEach;
  let keys: Map<Role, string | null>;
  beforeAll(async () => {
    site = await openSite();
    own = await makeOrganization(site, "roles-of-all");
    made = await makeOneOfEach(site, own, {
      text: (place) => place,
      address: (place) => `https://code.example/${place}`,
      record: (place) => ({ one: `https://code.example/${place}` }),
    });
    keys = new Map([["nobody", null]]);
    for (const role of roles) keys.set(role, await own.keyFor(role));
  }, 240_000);

  it("decide on everything that pages do", () => {
    const inTable = new Set<string>(
      Object.values(pagesOf(made)).flatMap((controls) => controls.map(({ operation }) => operation)),
    );
    const reads = [
      "GET /actions/{org}/{action_number}/deliveries",
      // What the rules allow, for the dialog that rotates a key: without, it offers everything.
      "GET /organizations/{org}/security",
    ];
    // What others are told on pages about the installation is for the whole page; `new-things.test.ts` has who makes organizations.
    const ofInstallation = operationsOfPages().filter(
      (operation) => operation.includes(" /instance/") || operation === "POST /organizations",
    );
    const needs = new Set(ofInstallation.map((operation) => operationAccess[operation as Operation]));
    expect([...needs]).toEqual(["instance_admin"]);
    const known = new Set([...inTable, ...aboutOneself, ...ofInstallation, ...reads]);
    expect(operationsOfPages().filter((operation) => !known.has(operation))).toEqual([]);
  });

  it.each(everybody)(
    "allow %s what the contract allows, say why not else, and the server refuses that",
    async (role) => {
      const { page } = await site.open({ key: keys.get(role)! });
      const problems: string[] = [];
      const refused = new Map<Operation, object>();
      for (const [path, controls] of pagesFor(role, pagesOf(made))) {
        await page.goto(`/${own.name}/${path}`);
        await untilSettled(page);
        for (const control of controls) {
          const problem = await problemOf(page, role, control);
          if (problem !== undefined) problems.push(`${path}: ${control.name} ${problem}`);
        }
      }
      for (const control of Object.values(pagesOf(made)).flat())
        if (!isAllowed(role, control)) refused.set(control.operation, control.body ?? {});
      expect(problems).toEqual([]);
      const things = { org: own.name, name: made.account, key_id: made.keyId };
      const calls = [...refused].map(([operation, body]) => {
        const [method = "", path = ""] = operation.split(" ");
        const filled = path.replaceAll(
          /\{(\w+)\}/g,
          (_place, name: string) => new Map(Object.entries(things)).get(name) ?? "x1",
        );
        return {
          operation,
          method,
          address: `/api/v2${filled}`,
          body: method === "GET" ? null : JSON.stringify(body),
        };
      });
      const statuses = await page.evaluate(
        (asked) =>
          Promise.all(
            asked.map(async ({ method, address, body, operation }) => {
              const headers = { "content-type": "application/json" };
              const sent = { method, headers, ...(body === null ? {} : { body }) };
              return [operation, (await fetch(address, sent)).status];
            }),
          ),
        calls,
      );
      const status = role === "nobody" ? 401 : 403;
      expect(statuses).toEqual(calls.map(({ operation }) => [operation, status]));
      if (role !== "admin") expect(calls.length).toBeGreaterThan(5);
    },
  );

  it("are not guessed while they are not known", async () => {
    const { page } = await site.open({ key: keys.get("member")! });
    const answer = await holdAnswers(page, /\/api\/v2\/organizations$/);
    await page.goto(`/${own.name}/environments/${made.env}/settings`);
    const rename = page.getByRole("button", { name: /^Rename/ });
    await rename.waitFor();
    expect([await rename.getAttribute("title"), await rename.getAttribute("aria-disabled")]).toEqual([
      roleUnknown,
      "true",
    ]);
    expect(await page.getByText("Sign in as a member").count()).toBe(0);
    expect(await page.getByText("not a member here").count()).toBe(0);
    answer();
    await expect.poll(() => rename.getAttribute("aria-disabled"), { timeout: 30_000 }).toBeNull();
    await page.getByText("member", { exact: true }).waitFor();
  });
});
