/**
 * Takes a value that the compiler cannot know to be there.
 * @param why it must be there.
 * @throws Error with that reason when it is not: a mistake in the program.
 */
export function present<T>(value: T, why: string): NonNullable<T> {
  if (value === undefined || value === null) throw new Error(`A value is missing, although ${why}`);
  return value;
}
