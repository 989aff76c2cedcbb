const uses = new Map<string, number>();

/**
 * Gives a name that was not given before in this process: itself the first time, then with a number. A test that is tried again finds what
 * its first try made, and must not take it for its own.
 * @param name one that no other test file uses.
 */
export function freshName(name: string): string {
  const use = (uses.get(name) ?? 0) + 1;
  uses.set(name, use);
  return use === 1 ? name : `${name}-${use}`;
}
