import type { Role } from "../../src/domain/roles.ts";
import { companyDomain } from "../data/company.ts";
import { firstNames, lastNames, leadingRoles } from "../data/people.ts";
import { createRandom } from "./random.ts";

/** An employee of the company. */
export interface Person {
  /** Login name, without the organization's prefix. */
  name: string;
  display_name: string;
  email: string;
  role: Role;
}

/** Makes people, each of another name. */
export function makePeople(seed: string, count: number): Person[] {
  const random = createRandom(`${seed}/people`);
  const first = random.shuffled(firstNames);
  const last = random.shuffled(lastNames);
  return first.slice(0, count).map((given, index) => {
    const family = last[index % last.length] as string;
    return {
      name: given.toLowerCase(),
      display_name: `${given} ${family}`,
      email: `${given}.${family}@${companyDomain}`.toLowerCase(),
      role: leadingRoles[index] ?? "member",
    };
  });
}
