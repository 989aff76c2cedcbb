/** Writes a value as JSON; undefined for what JSON has no text for, which the type of `JSON.stringify` forgets. */
export const jsonText: (value: unknown) => string | undefined = JSON.stringify;
