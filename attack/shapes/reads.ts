import { each, numbers, policyOf, type Scene, type Shape } from "../scene.ts";

/** Reads a path several times at once, and notes the size of the longest answer. */
async function readAtOnce(scene: Scene, readers: number, path: string, anonymous = false): Promise<void> {
  let most = 0;
  await each(numbers(readers), readers, async () => {
    const answer = await scene.client.poke("GET", path, { anonymous });
    most = Math.max(most, answer?.bytes ?? 0);
  });
  if (most > 1024 * 1024) scene.note(`${Math.round(most / 1024 / 1024)} MB each`);
}

/** Makes a shape of several readers of one path. */
function reading(
  name: string,
  what: string,
  pathOf: (scene: Scene) => Promise<string>,
  more: Partial<Shape> & { anonymous?: boolean; times?: number } = {},
): Shape {
  const { anonymous = false, times = 1, ...rest } = more;
  return {
    name,
    what,
    peakLimit: 150,
    ...rest,
    prepare: async (scene) => {
      const path = await pathOf(scene);
      return () => readAtOnce(scene, scene.scale.readers * times, path, anonymous);
    },
  };
}

const ofLarge =
  (path: (org: string, environment: string) => string) =>
  async (scene: Scene): Promise<string> =>
    path(scene.org, await scene.largeEnvironment());

const ofTrail =
  (path: (org: string, place: { flow: string; trail: string; fingerprint: string }) => string) =>
  async (scene: Scene): Promise<string> =>
    path(scene.org, await scene.largeTrail());

/** Makes many trails, so that a list without pages is long. @returns the list's path. */
async function manyTrails(scene: Scene): Promise<string> {
  await scene.largeTrail();
  await each(numbers(scene.scale.attestations), 64, (index) =>
    scene.attest("large-flow", `one-of-many-${index}`, "generic", {
      attestation_name: "check",
      is_compliant: true,
      user_data: { index },
    }),
  );
  return `/trails/${scene.org}/large-flow`;
}

async function manyPolicies(scene: Scene): Promise<string> {
  await each(numbers(Math.ceil(scene.scale.attestations / 50)), 4, (index) =>
    scene.putPolicy(`one-of-many-${index}`, policyOf(scene.scale.rules * 10, `-${index}`).slice(0, 60_000)),
  );
  await each(numbers(Math.ceil(scene.scale.attestations / 50)), 4, (index) =>
    scene.putPolicy(`one-of-many-${index}`, policyOf(scene.scale.rules, `-${index}`)),
  );
  return `/policies/${scene.org}`;
}

async function manyFlows(scene: Scene): Promise<string> {
  await each(numbers(Math.ceil(scene.scale.attestations / 10)), 32, (index) =>
    scene.flow(`one-of-many-${index}`, "version: 1\n"),
  );
  return `/flows/${scene.org}`;
}

const diff = (org: string, environment: string): string =>
  `/env-diff/${org}?snappish1=${environment}%231&snappish2=${environment}%232`;

/** Shapes of reads. */
export const readingShapes: Shape[] = [
  reading(
    "explain",
    "the explanation of the large environment, six readers",
    ofLarge((org, env) => `/environments/${org}/${env}/explain`),
    { anonymous: true },
  ),
  reading(
    "snapshot",
    "its snapshot of 10,000 artifacts and 50 rules, six readers",
    ofLarge((org, env) => `/snapshots/${org}/${env}/-1`),
    { anonymous: true },
  ),
  reading(
    "diff",
    "the difference of two snapshots of 10,000 artifacts with nothing in common, six readers",
    ofLarge(diff),
    { long: true },
  ),
  reading(
    "log-json",
    "the log of that environment, pages of 50, six readers",
    ofLarge((org, env) => `/environments/${org}/${env}/events?per_page=50&page=1`),
    { long: true },
  ),
  reading(
    "log-csv",
    "the whole log of that environment as CSV, six readers",
    ofLarge((org, env) => `/environments/${org}/${env}/auditlog`),
    { long: true },
  ),
  reading(
    "trail",
    "a trail with the most attestations, six readers",
    ofTrail((org, { flow, trail }) => `/trails/${org}/${flow}/${trail}`),
    { long: true },
  ),
  reading(
    "trail-explain",
    "its explanation, six readers",
    ofTrail((org, { flow, trail }) => `/trails/${org}/${flow}/${trail}/explain`),
    { long: true },
  ),
  reading(
    "audit-package",
    "its audit package, six readers",
    ofTrail((org, { flow, trail }) => `/trails/${org}/${flow}/${trail}/audit_package`),
    { long: true },
  ),
  reading(
    "audit-pdf",
    "its PDF, six readers",
    ofTrail((org, { flow, trail }) => `/trails/${org}/${flow}/${trail}/audit_pdf`),
  ),
  reading(
    "search",
    "a search of attestations by a regular expression, twelve readers",
    ofTrail(
      (org) => `/attestations/${org}?name_regex=${encodeURIComponent("^(a|b|ab)*c?(x+x+)+y$")}&per_page=50`,
    ),
    { times: 2 },
  ),
  reading("trails-list", "all trails of a flow without pages, six readers", manyTrails, { long: true }),
  reading("flows-list", "all flows without pages, six readers", manyFlows, { long: true }),
  reading("policies-list", "all policies with all their texts, six readers", manyPolicies, { long: true }),
];
