import { organizationEndpoints } from "../../src/contract/organizations.ts";
import { CliError } from "../../src/cli/output.ts";
import { type Api, ApiError } from "../api.ts";
import { company } from "../data/company.ts";
import type { DemoOrg } from "../database.ts";

const attempts = 50;

async function tryToCreate(api: Api, name: string): Promise<DemoOrg | undefined> {
  try {
    return await api.call(organizationEndpoints.create_organization, {
      body: {
        ...company,
        name,
      },
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 400) return undefined;
    if (error.status === 403)
      throw new CliError("The demo makes an organization, which needs the key of an instance administrator.");
    throw error;
  }
}

async function exists(api: Api, name: string): Promise<boolean> {
  return api.call(organizationEndpoints.get_organization, { params: { org: name } }).then(
    () => true,
    () => false,
  );
}

/**
 * Creates the organization to fill: always a new one, so that nothing is mixed with real records.
 * @param wanted the name to have; without one, the first free one of `harborlight`, `harborlight-2`, …
 * @throws CliError when the name is taken, or cannot be a name.
 */
export async function createOrganization(api: Api, wanted: string | undefined): Promise<DemoOrg> {
  if (wanted !== undefined) {
    const made = await tryToCreate(api, wanted);
    if (made !== undefined) return made;
    throw new CliError(
      (await exists(api, wanted))
        ? `There is an organization ${wanted} already. The demo fills a new one: give another name, or none.`
        : `${wanted} cannot be the name of an organization, or belongs to a user already: give another one.`,
    );
  }
  for (let number = 1; number <= attempts; number += 1) {
    const made = await tryToCreate(api, number === 1 ? company.name : `${company.name}-${number}`);
    if (made !== undefined) return made;
  }
  throw new CliError(`${attempts} demo organizations are enough: give a name with --org.`);
}
