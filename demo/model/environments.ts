import type { EnvironmentType } from "../../src/domain/environments.ts";
import {
  archivedNames,
  physicalTypes,
  products,
  regions,
  renamedEnvironment,
  stages,
} from "../data/environments.ts";
import { createRandom, type Random } from "./random.ts";

/** One environment to be made. */
export interface Environment {
  name: string;
  type: EnvironmentType;
  description: string;
  tags: Record<string, string>;
  /** Key of its space; null for the root. */
  space: string | null;
  /** Names of other environments, for logical ones. */
  members: string[];
  /** What happens to it after it was made. */
  fate: { kind: "lives" } | { kind: "archived" } | { kind: "renamed"; to: string };
}

function physical(random: Random, index: number): Environment {
  const product = random.weighted(products);
  const stage = random.weighted(stages);
  const region = random.pick(regions);
  // The first few show every type.
  const type = physicalTypes[index]?.name ?? random.weighted(physicalTypes).name;
  return {
    name: `${product.name}-${stage.name}-${region}-${String(index + 1).padStart(3, "0")}`,
    type,
    description: `${product.name} in ${region}, for ${stage.name}`,
    tags: {
      team: product.team,
      stage: stage.name,
      region,
      ...(stage.name === "prod" ? { tier: String(random.int(1, 3)) } : {}),
    },
    space: random.chance(0.1) ? null : product.space,
    members: [],
    fate: { kind: "lives" },
  };
}

function logical(random: Random, recent: readonly Environment[], index: number): Environment {
  const members = random
    .shuffled(recent.filter((environment) => environment.type !== "logical"))
    .slice(0, random.int(2, 5));
  const stage = members[0]?.tags["stage"] ?? "prod";
  const product = random.weighted(products).name;
  return {
    name: `${product}-${stage}-together-${String(index + 1).padStart(3, "0")}`,
    type: "logical",
    description: `What belongs together around ${product}, for ${stage}`,
    tags: { stage, view: "combined" },
    space: "operations",
    members: members.map((member) => member.name),
    fate: { kind: "lives" },
  };
}

/** How many of the latest environments a logical one chooses its members from. */
const neighbourhood = 40;

/** Makes live environments without end. About one of 25 is logical and combines earlier ones. Names never repeat. */
export function* makeEnvironments(seed: string): Generator<Environment> {
  const random = createRandom(`${seed}/environments`);
  const recent: Environment[] = [];
  for (let index = 0; ; index += 1) {
    const combined = index === physicalTypes.length || (index > physicalTypes.length && random.chance(0.04));
    const environment = combined ? logical(random, recent, index) : physical(random, index);
    recent.push(environment);
    if (recent.length > neighbourhood) recent.shift();
    yield environment;
  }
}

/** Makes a few environments of the past: archived ones, and one that is live under another name. */
export function makeFormerEnvironments(seed: string): { archived: Environment[]; renamed: Environment } {
  const random = createRandom(`${seed}/former environments`);
  const archived = archivedNames.map((name, index): Environment => ({
    ...physical(random, index),
    name: `${name}-${random.int(2023, 2025)}`,
    fate: { kind: "archived" },
  }));
  const renamed: Environment = {
    ...physical(random, 0),
    name: renamedEnvironment.from,
    fate: { kind: "renamed", to: renamedEnvironment.to },
  };
  return { archived, renamed };
}
