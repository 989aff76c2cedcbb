/** Gives the fields that are written otherwise than they are kept. Only these are sent: what others saved meanwhile in the rest stays. */
export function differing<Fields extends object>(written: Fields, kept: NoInfer<Fields>): Partial<Fields> {
  const names = Object.keys(written) as (keyof Fields)[];
  const different = names.filter((name) => written[name] !== kept[name]);
  return Object.fromEntries(different.map((name) => [name, written[name]])) as Partial<Fields>;
}
