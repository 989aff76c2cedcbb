import { memberEndpoints } from "../../src/contract/members.ts";
import { registerUser } from "../../src/modules/identity/users/service.ts";
import type { Demo } from "../plan.ts";
import { loader } from "./history.ts";

/**
 * Creates the company's people and gives them their roles. Their login names begin with the organization's, so that
 * they clash with nobody's. Users are made in the database, as `waybill admin` does: the API cannot create them.
 */
export async function createPeople(demo: Demo): Promise<void> {
  const { api, beside, org, people } = demo;
  if (beside === undefined) return;
  await demo.progress.step("People and roles", people.length, async (advance) => {
    for (const person of people) {
      const user = `${org}.${person.name}`;
      await registerUser(beside, loader, {
        name: user,
        email: person.email.replace("@", `+${org}@`),
        display_name: person.display_name,
      });
      await api.call(memberEndpoints.put_member, { params: { org, user }, body: { role: person.role } });
      advance();
    }
  });
}
