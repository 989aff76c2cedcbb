/** A node of the tree of spaces. */
export interface Space {
  key: string;
  name: string;
  /** Key of another space, which comes earlier; null at the root. */
  parent: string | null;
}

/** The company's spaces, parents first. */
export const spaces: readonly Space[] = [
  { key: "engineering", name: "Engineering", parent: null },
  { key: "shop", name: "Shop", parent: "engineering" },
  { key: "platform", name: "Platform", parent: "engineering" },
  { key: "data", name: "Data", parent: "engineering" },
  { key: "mobile", name: "Mobile", parent: "engineering" },
  { key: "operations", name: "Operations", parent: null },
  { key: "networks", name: "Networks", parent: "operations" },
  { key: "back-office", name: "Back office", parent: null },
];
