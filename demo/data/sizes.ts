/** How much of everything is made. */
export interface Amounts {
  people: number;
  /** Live environments. */
  environments: number;
  /** Artifacts, each built once. */
  builds: number;
  /** How many of the builds are of the last days. Those are reported as pipelines do it, one call each. */
  recentBuilds: number;
  /** How many environments are made one by one; the others are loaded in bulk. */
  singleEnvironments: number;
}

/** The sizes that `--size` chooses from. */
export const sizes = {
  small: { people: 9, environments: 30, builds: 400, recentBuilds: 40, singleEnvironments: 500 },
  medium: { people: 16, environments: 150, builds: 5_000, recentBuilds: 200, singleEnvironments: 500 },
  large: { people: 30, environments: 100_000, builds: 1_000_000, recentBuilds: 200, singleEnvironments: 200 },
} as const satisfies Record<string, Amounts>;

export type SizeName = keyof typeof sizes;

export const sizeNames = Object.keys(sizes) as SizeName[];
