import { pagePaths } from "../../web/paths.ts";
import type { Visit } from "./page-visits.ts";
import { knownCommit, knownFingerprint } from "./state-organizations.ts";

export type PagePath = (typeof pagePaths)[number];

/** An address, and what its page says. */
type State = readonly [address: string, ...says: (string | RegExp)[]];

/** Makes visits out of what is known of each page's state; the order is that of the pages. */
export function visitsOf(states: Partial<Record<PagePath, State>>): Visit[] {
  return pagePaths.flatMap((pattern) => {
    const state = states[pattern];
    if (state === undefined) return [];
    const [address, ...says] = state;
    return [{ pattern, address, says }];
  });
}

/** How each page shows that there is nothing yet. @param empty an organization with nothing. @param bare one of each thing, with nothing in it. */
export function emptyStates(empty: string, bare: string): Partial<Record<PagePath, State>> {
  const [none, one] = [`/${empty}`, `/${bare}`];
  const env = `${one}/environments/quiet`;
  const flow = `${one}/flows/bare`;
  return {
    "/$org": [none, "First steps", "0 of 7 steps done"],
    "/$org/running": [`${none}/running`, "Nothing is known to run"],
    "/$org/changes": [`${none}/changes`, /^Nothing changed since/],
    "/$org/environments": [`${none}/environments`, "No environments yet", `/environments/${empty}`],
    "/$org/environments/-/new": [`${none}/environments/-/new`, "Make the environment"],
    "/$org/environments/$env": [
      env,
      "Nobody has reported what runs here",
      `/environments/${bare}/quiet/report`,
    ],
    "/$org/environments/$env/snapshots": [`${env}/snapshots`, "Nobody has reported what runs here"],
    "/$org/environments/$env/snapshots/$expression": [`${env}/snapshots/latest`, "There is no such snapshot"],
    "/$org/environments/$env/log": [`${env}/log`, "Nothing has happened yet"],
    "/$org/environments/$env/deployments": [`${env}/deployments`, "Nothing was deployed in this time"],
    "/$org/environments/$env/allow-list": [`${env}/allow-list`, "Nothing is allowed here beside the rules"],
    "/$org/environments/$env/settings": [`${env}/settings`, /^None: nothing is asked/],
    "/$org/diff": [`${none}/diff`, "Choose two snapshots"],
    "/$org/audit-log": [`${none}/audit-log?kind=members`, /admin/],
    "/$org/actions": [`${none}/actions`, "No actions yet"],
    "/$org/actions/-/new": [`${none}/actions/-/new`, "New action"],
    "/$org/actions/$number": [`${one}/actions/1`, "Nothing was sent yet"],
    "/$org/integrations": [`${none}/integrations`, "Integrations"],
    "/$org/spaces": [`${none}/spaces`, "No spaces yet"],
    "/$org/flows": [`${none}/flows`, "No flows yet", `/flows/${empty}`],
    "/$org/flows/-/new": [`${none}/flows/-/new`, "What trails would need"],
    "/$org/flows/$flow": [flow, "No trails yet", `/trails/${bare}/bare`],
    "/$org/flows/$flow/artifacts": [`${flow}/artifacts`, "No artifacts yet", `/artifacts/${bare}/bare`],
    "/$org/flows/$flow/template": [`${flow}/template`, "What trails would need"],
    "/$org/flows/$flow/statistics": [`${flow}/statistics`, /No trail/],
    "/$org/flows/$flow/settings": [`${flow}/settings`, "This flow has none. Lists can be filtered by them."],
    "/$org/flows/$flow/trails/$trail": [`${one}/flows/other/trails/build-1`, /asks for nothing/],
    "/$org/trails": [`${none}/trails`, "No trails yet"],
    "/$org/flows/$flow/artifacts/$fingerprint": [
      `${one}/flows/builds/artifacts/${knownFingerprint}`,
      /nothing was attested/,
    ],
    "/$org/artifacts/$fingerprint": [
      `${none}/artifacts/${knownFingerprint}`,
      "Nothing is known of this fingerprint",
    ],
    "/$org/commits/$sha": [`${none}/commits/${knownCommit}`, "Nothing was built from this commit"],
    "/$org/settings": [`${none}/settings`, "Display name"],
    "/$org/settings/general": [`${none}/settings/general`, "Display name"],
    "/$org/settings/members": [`${none}/settings/members`, "No invitation is open."],
    "/$org/settings/service-accounts": [`${none}/settings/service-accounts`, "No service accounts yet"],
    "/$org/settings/security": [`${none}/settings/security`, "No key of this organization does."],
    "/$org/policies": [`${none}/policies`, "No policies yet", `/policies/${empty}`],
    "/$org/policies/-/new": [`${none}/policies/-/new`, "New policy"],
    "/$org/policies/$policy": [`${one}/policies/unused`, /attached/],
    "/$org/policies/$policy/edit": [`${one}/policies/unused/edit`, "Edit unused"],
    "/$org/controls": [`${none}/controls`, "No controls yet"],
    "/$org/controls/$control": [`${one}/controls/CC-1`, "Nobody has decided on it yet"],
    "/$org/attestation-types": [`${none}/attestation-types`, "No attestation types yet"],
    "/$org/attestation-types/$type": [`${one}/attestation-types/untried`, "untried"],
    "/$org/attestation-types/-/new": [`${none}/attestation-types/-/new`, "New attestation type"],
    "/$org/attestation-types/$type/edit": [`${one}/attestation-types/untried/edit`, /untried/],
    "/$org/allow-list": [`${none}/allow-list`, /Nothing is allowed/],
    "/$org/attestations": [`${none}/attestations`, "Nothing was attested yet"],
    "/$org/repos": [`${none}/repos`, "No repos yet", `/artifacts/${empty}/my-flow`],
    "/$org/repos/$": [`${one}/repos/web?tab=run`, /Nothing/],
  };
}

/** How lists show that nothing is as their filters say. */
export function unmatchedStates(org: string): Partial<Record<PagePath, State>> {
  const says = "Clear the filters";
  const env = `/${org}/environments/busy`;
  return {
    "/$org/running": [`/${org}/running?name=no-such`, says],
    "/$org/changes": [`/${org}/changes?environment=env-1`, says],
    "/$org/environments": [`/${org}/environments?name=no-such`, says],
    "/$org/environments/$env": [`${env}?q=no-such`, says],
    "/$org/environments/$env/snapshots/$expression": [`${env}/snapshots/1?q=no-such`, says],
    "/$org/audit-log": [`/${org}/audit-log?resource=no-such`, says],
    "/$org/actions": [`/${org}/actions?failing=true`, says],
    "/$org/flows": [`/${org}/flows?search=no-such`, says],
    "/$org/flows/$flow": [`/${org}/flows/busy?search=no-such`, says],
    "/$org/trails": [`/${org}/trails?search=no-such`, says],
    "/$org/settings/members": [`/${org}/settings/members?q=no-such`, "Clear the filter"],
    "/$org/policies": [`/${org}/policies?q=no-such`, says],
    "/$org/controls": [`/${org}/controls?search=no-such`, says],
    "/$org/attestation-types": [`/${org}/attestation-types?q=no-such`, says],
    "/$org/allow-list": [`/${org}/allow-list?q=no-such`, says],
    "/$org/attestations": [`/${org}/attestations?name=no-such`, says],
    "/$org/repos": [`/${org}/repos?search=no-such`, says],
  };
}

/** How each page shows more than fits on it. */
export function manyStates(org: string): Partial<Record<PagePath, State>> {
  const at = `/${org}`;
  const env = `${at}/environments/busy`;
  const flow = `${at}/flows/busy`;
  const service = /team\/service-\d+/;
  return {
    "/$org": [at, /^All \d+ of 24 hours$/],
    "/$org/running": [`${at}/running`, /^1–\d+ of 259$/],
    "/$org/changes": [`${at}/changes`, /^1–\d+ of \d+$/],
    "/$org/environments": [`${at}/environments`, "1–50 of 61"],
    "/$org/environments/-/new": [`${at}/environments/-/new`, "New environment"],
    "/$org/environments/$env": [env, service],
    "/$org/environments/$env/snapshots": [`${env}/snapshots`, /^1–50 of \d+$/],
    "/$org/environments/$env/snapshots/$expression": [`${env}/snapshots/latest`, service],
    "/$org/environments/$env/log": [`${env}/log`, /^1–50 of \d+$/],
    "/$org/environments/$env/deployments": [`${env}/deployments`, /^1–50 of \d+$/],
    "/$org/environments/$env/allow-list": [`${at}/environments/env-2/allow-list`, service],
    "/$org/environments/$env/settings": [`${at}/environments/env-1/settings`, "policy-1"],
    "/$org/diff": [`${at}/diff?from=busy%231&to=busy`, service],
    "/$org/audit-log": [`${at}/audit-log`, /^1–\d+ of \d+$/],
    "/$org/actions": [`${at}/actions`, "tell-1"],
    "/$org/actions/-/new": [`${at}/actions/-/new`, "New action"],
    "/$org/actions/$number": [`${at}/actions/1?edit=true`, "Save"],
    "/$org/spaces": [`${at}/spaces`, "Team 30"],
    "/$org/flows": [`${at}/flows`, /^1–50 of 61$/],
    "/$org/flows/-/new": [`${at}/flows/-/new`, "New flow"],
    "/$org/flows/$flow": [flow, /^1–50 of 60$/],
    "/$org/flows/$flow/artifacts": [`${flow}/artifacts`, "web:60"],
    "/$org/flows/$flow/template": [`${flow}/template`, "What trails would need"],
    "/$org/flows/$flow/statistics": [`${flow}/statistics`, "check-2"],
    "/$org/flows/$flow/settings": [`${flow}/settings`, "This flow has none. Lists can be filtered by them."],
    "/$org/flows/$flow/trails/$trail": [`${flow}/trails/build-1`, "check-2"],
    "/$org/trails": [`${at}/trails`, /^1–50 of 60$/],
    "/$org/flows/$flow/artifacts/$fingerprint": [`${flow}/artifacts/${knownFingerprint}`, "busy"],
    "/$org/artifacts/$fingerprint": [`${at}/artifacts/${knownFingerprint}`, "busy"],
    "/$org/commits/$sha": [`${at}/commits/${knownCommit}`, "busy"],
    "/$org/settings/members": [`${at}/settings/members`, "1–20 of 25"],
    "/$org/settings/service-accounts": [`${at}/settings/service-accounts`, "robot-40"],
    "/$org/policies": [`${at}/policies`, "policy-60"],
    "/$org/policies/-/new": [`${at}/policies/-/new`, "New policy"],
    "/$org/policies/$policy": [`${at}/policies/policy-1`, /^1–\d+ of 60$/],
    "/$org/policies/$policy/edit": [`${at}/policies/policy-1/edit`, "Edit policy-1"],
    "/$org/controls": [`${at}/controls`, /^1–\d+ of 60$/],
    "/$org/controls/$control": [`${at}/controls/CC-1`, /^1–\d+ of 55$/],
    "/$org/attestation-types": [`${at}/attestation-types`, "type-40"],
    "/$org/attestation-types/-/new": [`${at}/attestation-types/-/new`, "New attestation type"],
    "/$org/attestation-types/$type/edit": [`${at}/attestation-types/type-1/edit`, /type-1/],
    "/$org/allow-list": [`${at}/allow-list`, service],
    "/$org/attestations": [`${at}/attestations`, "check-110"],
    "/$org/repos": [`${at}/repos`, /^1–\d+ of 60$/],
    "/$org/repos/$": [`${at}/repos/team/web-1`, "team/web-1"],
  };
}

/** How each page that is about something shows that there is no such thing. */
export function missingStates(org: string, env: string, flow: string): Partial<Record<PagePath, State>> {
  const at = `/${org}`;
  const zeros = "0".repeat(64);
  const noEnvironment = "Environment named 'no-such' does not exist";
  const noFlow = "Flow named 'no-such' does not exist";
  const noOrganization = /who is not a member of no-such/;
  const lists = pagePaths.filter(
    (path) =>
      /^\/\$org(?:\/[a-z-]+)*$/.test(path) &&
      ![
        "/$org/settings",
        "/$org/environments/-/new",
        "/$org/flows/-/new",
        "/$org/policies/-/new",
        "/$org/actions/-/new",
        "/$org/attestation-types/-/new",
      ].includes(path),
  );
  return {
    ...Object.fromEntries(lists.map((path) => [path, [path.replace("$org", "no-such"), noOrganization]])),
    "/$org/environments/$env": [`${at}/environments/no-such`, noEnvironment],
    "/$org/environments/$env/snapshots": [`${at}/environments/no-such/snapshots`, noEnvironment],
    "/$org/environments/$env/snapshots/$expression": [
      `${at}/environments/${env}/snapshots/99999`,
      "There is no such snapshot",
    ],
    "/$org/environments/$env/log": [`${at}/environments/no-such/log`, noEnvironment],
    "/$org/environments/$env/deployments": [`${at}/environments/no-such/deployments`, noEnvironment],
    "/$org/environments/$env/allow-list": [`${at}/environments/no-such/allow-list`, noEnvironment],
    "/$org/environments/$env/settings": [`${at}/environments/no-such/settings`, noEnvironment],
    "/$org/diff": [`${at}/diff?from=no-such&to=${env}`, noEnvironment],
    "/$org/actions/$number": [`${at}/actions/4711`, "Action '4711' does not exist"],
    "/$org/flows/$flow": [`${at}/flows/no-such`, noFlow],
    "/$org/flows/$flow/artifacts": [`${at}/flows/no-such/artifacts`, noFlow],
    "/$org/flows/$flow/template": [`${at}/flows/no-such/template`, noFlow],
    "/$org/flows/$flow/statistics": [`${at}/flows/no-such/statistics`, noFlow],
    "/$org/flows/$flow/settings": [`${at}/flows/no-such/settings`, noFlow],
    "/$org/flows/$flow/trails/$trail": [
      `${at}/flows/${flow}/trails/no-such`,
      "Trail with name 'no-such' does not exist",
    ],
    "/$org/flows/$flow/artifacts/$fingerprint": [
      `${at}/flows/${flow}/artifacts/${zeros}`,
      /^Artifact with .* does not exist/,
    ],
    "/$org/artifacts/$fingerprint": [`${at}/artifacts/${zeros}`, "Nothing is known of this fingerprint"],
    "/$org/commits/$sha": [`${at}/commits/${"0".repeat(40)}`, "Nothing was built from this commit"],
    "/$org/policies/$policy": [`${at}/policies/no-such`, "Policy 'no-such' does not exist"],
    "/$org/policies/$policy/edit": [`${at}/policies/no-such/edit`, "Policy 'no-such' does not exist"],
    "/$org/controls/$control": [`${at}/controls/no-such`, "Control 'no-such' does not exist"],
    "/$org/attestation-types/$type": [
      `${at}/attestation-types/no-such`,
      "Custom attestation type 'no-such' does not exist",
    ],
    "/$org/attestation-types/$type/edit": [
      `${at}/attestation-types/no-such/edit`,
      "Custom attestation type 'no-such' does not exist",
    ],
    "/$org/repos/$": [`${at}/repos/no/such`, /no\/such/],
  };
}
