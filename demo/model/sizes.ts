/** How much there is to be. */
export interface Amounts {
  people: number;
  /** Live environments. */
  environments: number;
  /** Different artifacts. */
  builds: number;
  /** How many of the builds are of the last days: those are reported like a pipeline does, one call each. */
  recentBuilds: number;
  /** How many environments are made one by one; the rest is loaded at once. */
  singleEnvironments: number;
}

export const sizes = {
  small: { people: 9, environments: 30, builds: 400, recentBuilds: 40, singleEnvironments: 500 },
  medium: { people: 16, environments: 150, builds: 5_000, recentBuilds: 200, singleEnvironments: 500 },
  large: { people: 30, environments: 100_000, builds: 1_000_000, recentBuilds: 200, singleEnvironments: 200 },
} as const satisfies Record<string, Amounts>;

export type SizeName = keyof typeof sizes;

export const sizeNames = Object.keys(sizes) as SizeName[];
