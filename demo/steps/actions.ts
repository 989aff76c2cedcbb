import { actionEndpoints } from "../../src/contract/actions.ts";
import { companyDomain } from "../data/company.ts";
import type { Environment } from "../model/environments.ts";
import type { Demo } from "../plan.ts";

function webhook(path: string) {
  return {
    type: "WEBHOOK" as const,
    webhook: `https://hooks.${companyDomain}/${path}`,
    payload_version: "1.0" as const,
  };
}

function email(...emails: string[]) {
  return { type: "EMAIL" as const, emails };
}

/** Numbers of actions that the printed commands refer to. */
export interface ActionNumbers {
  /** The one for environments that do not comply. */
  onCall: number;
  /** One that nobody will miss. */
  unneeded: number;
}

/** Creates actions on environments and flows. */
export function createActions(demo: Demo, environments: readonly Environment[]): Promise<ActionNumbers> {
  const { api, org } = demo;
  // Those that report come first.
  const production = environments.filter((e) => e.tags["stage"] === "prod" && e.fate.kind === "lives");
  const names = production.slice(0, 5).map((environment) => environment.name);
  const [anyName = ""] = environments.filter((e) => e.fate.kind === "lives").map((e) => e.name);
  const watched = names.length > 0 ? names : [anyName];
  const environmentAction = (
    name: string,
    triggers: ("ON_NON_COMPLIANT_ENV" | "ON_STARTED_ARTIFACT" | "ON_EXITED_ARTIFACT")[],
    targets: ReturnType<typeof webhook | typeof email>[],
  ) =>
    api.call(actionEndpoints.create_or_update_env_action, {
      params: { org },
      body: { name, environments: watched, triggers, targets },
    });
  return demo.progress.step("Actions", 4, async (advance) => {
    await environmentAction(
      "tell-on-call",
      ["ON_NON_COMPLIANT_ENV"],
      [webhook("on-call"), email(`on-call@${companyDomain}`)],
    );
    advance();
    await environmentAction(
      "production-diary",
      ["ON_STARTED_ARTIFACT", "ON_EXITED_ARTIFACT"],
      [webhook("diary")],
    );
    advance();
    await api.call(actionEndpoints.create_or_update_flow_action, {
      params: { org },
      body: {
        name: "payments-audit",
        flows: ["checkout-ci"],
        triggers: ["ON_ATTESTATION"],
        targets: [email(`audit@${companyDomain}`)],
      },
    });
    advance();
    await environmentAction("old-pager", ["ON_NON_COMPLIANT_ENV"], [email(`pager@${companyDomain}`)]);
    advance();
    const actions = await api.call(actionEndpoints.list_actions, { params: { org } });
    const numberOf = (name: string) => actions.find((action) => action.name === name)?.number ?? 0;
    return { onCall: numberOf("tell-on-call"), unneeded: numberOf("old-pager") };
  });
}
