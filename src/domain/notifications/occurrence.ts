/** Something an action may want to be told of. */
export interface Occurrence {
  /** As actions name it: `ON_STARTED_ARTIFACT`, … */
  trigger: string;
  /** Where it happened: an environment or a flow. */
  subject: { kind: "environment" | "flow"; id: string; name: string };
  /** Unix seconds. */
  at: number;
  /** What the notification tells about it. */
  facts: Readonly<Record<string, unknown>>;
}
