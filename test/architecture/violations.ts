import type { Import } from "./imports.ts";
import { floors, type Place, placeOf, wings } from "./places.ts";

const nameOf = ({ floor }: Place): string => floors[floor]!.name;
const isOf = (floor: string, place: Place): boolean => nameOf(place) === floor;

/** Whether what stands there puts the program together, and may take whatever it needs. */
const wires = (place: Place): boolean => isOf("composition", place) || isOf("commands", place);

/** Says what is wrong with one import; undefined when nothing is. */
function fault(one: Import, from: Place, to: Place): string | undefined {
  if (isOf("pages", from) !== isOf("pages", to))
    return isOf("pages", from) && one.typesOnly ? undefined : "pages and program share types only";
  if (to.floor > from.floor) return `${nameOf(from)} must not know ${nameOf(to)}`;
  if (isOf("stores", to) && to.module !== from.module && !one.typesOnly && !wires(from))
    return `the store of ${to.module} is its own; call its service`;
  if (to.floor === from.floor && from.room !== to.room && !one.typesOnly)
    return `parts of ${nameOf(from)} stand apart`;
  if (from.wing === undefined || to.wing === undefined || from.wing === to.wing) return undefined;
  if (isOf("handlers", from)) return undefined;
  return wings[from.wing]!.includes(to.wing) ? undefined : `${from.wing} must not know ${to.wing}`;
}

/** Finds one circle of modules that call each other, by following imports from each. */
function circleOfModules(imports: readonly Import[]): string[] | undefined {
  const calls = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [caller, called] = [placeOf(from)?.module, placeOf(to)?.module];
    if (caller === undefined || called === undefined || caller === called) continue;
    calls.set(caller, (calls.get(caller) ?? new Set()).add(called));
  }
  const done = new Set<string>();
  const follow = (module: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(module)) return [...path.slice(path.indexOf(module)), module];
    if (done.has(module)) return undefined;
    for (const called of calls.get(module) ?? []) {
      const circle = follow(called, [...path, module]);
      if (circle !== undefined) return circle;
    }
    done.add(module);
    return undefined;
  };
  for (const module of calls.keys()) {
    const circle = follow(module, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

/** Lists what breaks the plan of the house, a line each. */
export function violations(files: readonly string[], imports: readonly Import[]): string[] {
  const homeless = files
    .filter((file) => placeOf(file) === undefined)
    .map((file) => `${file} is on no floor`);
  const wrong = imports.flatMap((one) => {
    const [from, to] = [placeOf(one.from), placeOf(one.to)];
    const what = from && to && fault(one, from, to);
    return what === undefined ? [] : [`${one.from} -> ${one.to}: ${what}`];
  });
  const circle = circleOfModules(imports);
  return [...homeless, ...wrong, ...(circle ? [`modules in a circle: ${circle.join(" -> ")}`] : [])];
}
