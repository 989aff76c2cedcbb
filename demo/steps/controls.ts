import { attestationEndpoints } from "../../src/contract/attestations.ts";
import { controlEndpoints } from "../../src/contract/controls.ts";
import { controls, releaseControl } from "../data/controls.ts";
import { releaseFlow } from "../data/flows.ts";
import type { Demo } from "../plan.ts";

/** Creates the company's controls. */
export function createControls({ api, org, progress }: Demo): Promise<void> {
  return progress.step("Controls", controls.length, async (advance) => {
    for (const { identifier, name, description, links } of controls) {
      await api.call(controlEndpoints.post_control, {
        params: { org },
        body: { identifier, name, description, links },
      });
      advance();
    }
  });
}

/** Records who agreed to the releases; the last but one was refused. */
export function decideReleases({ api, org, progress }: Demo, releases: number): Promise<void> {
  return progress.step("Decisions about releases", releases, async (advance) => {
    for (let number = 1; number <= releases; number += 1) {
      const is_compliant = number !== releases - 1;
      await api.call(attestationEndpoints.post_system_attestation, {
        params: { org, flow_name: releaseFlow.name, trail_name: `release-${number}` },
        body: {
          attestation_name: "approval",
          type_name: "decision",
          control: releaseControl,
          description: is_compliant ? "Good to go" : "Not on a Friday",
          attestation_data: { is_compliant, decided_by: "Operations" },
        },
      });
      advance();
    }
  });
}
