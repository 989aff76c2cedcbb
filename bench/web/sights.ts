/** What a visitor looks for in a page: then it is there. Selectors are those of CSS. */
export interface Sight {
  /** What has to be there. */
  all: readonly string[];
  /** What must not be there. */
  none?: readonly string[];
  /** What elements have to say, among other things. */
  says?: Readonly<Record<string, string>>;
  /** Elements whose text, or number of rows, has to become another than it was at the beginning. */
  differs?: readonly string[];
}

/** Rows of a question that was changed meanwhile, and room for those to come. */
const waiting = ['[class*="dimmed"]', 'main table[aria-busy="true"]'];
const filter = 'main input[type="search"]:enabled';
const pageNumbers = 'main nav[aria-label="Pages"] span';

export const environmentsList: Sight = {
  all: ["h1", 'table[aria-label="Environments"] tr[data-row]', filter],
  none: waiting,
  says: { h1: "Environments" },
};

/** The list after it was filtered, or on another of its pages. */
export const environmentsChanged: Sight = { ...environmentsList, differs: [pageNumbers] };

export const startPage: Sight = {
  all: ["h1", 'section[aria-label="Environments"] a[aria-label*="0 "]', 'button[class*="find"]'],
  says: { h1: "Start" },
};

export const signInPage: Sight = { all: ["h1", "form input", 'form button[type="submit"]'] };

export const flowsList: Sight = {
  all: ["h1", 'table[aria-label="Flows"] tr[data-row]', filter],
  none: waiting,
  says: { h1: "Flows" },
};

/** Makes a snapshot with so many rows, of which those near the window are there. */
export function snapshotOf(rows: number): Sight {
  return { all: ["h1", `table[aria-rowcount="${rows + 1}"] tr[data-row]`, filter], none: waiting };
}

/** What runs in a snapshot, after its filter was typed in. */
export const snapshotFiltered: Sight = {
  all: [filter],
  differs: ['main table[aria-label="What runs here"]'],
};

export const explanation: Sight = { all: ["main tr[data-open] + tr h3"] };

export const differences: Sight = {
  all: ["h1", "main section[id] tr[data-row]", "main form input"],
  none: waiting,
};

/** Makes a matrix with so many trails, of which those near the window are there. */
export function matrixOf(trails: number): Sight {
  const rows = `main table[aria-label^="Trails of"][aria-rowcount="${trails + 2}"] tbody [data-cell]`;
  return { all: ["h1", rows, filter], none: waiting };
}

export const palette: Sight = { all: ["dialog[open] input", "dialog[open] [role=option]"] };

/** Any page but the one before. */
export const anotherPage: Sight = { all: ["main h1"], none: waiting, differs: ["main"] };

/** The page that is compared with, when it has written its answers. */
export const barePage: Sight = { all: ["h1", "input"], says: { output: "drawn" } };
export const bareChanged: Sight = { all: ["h1"], differs: ["output"] };
export const barePalette: Sight = { all: ["dialog[open] input"] };
