const typeWords: Readonly<Record<string, string>> = {
  exited: "exited",
  changed: "changed",
  "updated-provenance": "provenance updated",
  "became-compliant": "became compliant",
  "became-non-compliant": "became non-compliant",
};

/** Says in a word or two what an event of an environment is, by its `type`. */
export function eventWords(type: string): string {
  return type.startsWith("started") ? "started" : (typeWords[type] ?? type);
}
