/** A kind of evidence of the company's own. */
export interface AttestationType {
  name: string;
  description: string;
  /** JSON Schema of its data. */
  schema: Record<string, unknown>;
  /** jq programs, all of which have to yield true. */
  rules: readonly string[];
  /** jq programs by the name under which their result is shown. */
  summary: readonly { name: string; expression: string }[];
}

const share = { type: "number", minimum: 0, maximum: 100 };

/** The company's own kinds of evidence. */
export const attestationTypes: readonly AttestationType[] = [
  {
    name: "coverage-report",
    description: "How much of the code the tests run",
    schema: {
      type: "object",
      required: ["lines", "branches"],
      properties: { lines: share, branches: share, tool: { type: "string" } },
    },
    rules: [".lines >= 80", ".branches >= 60"],
    summary: [
      { name: "Lines", expression: '"\\(.lines) %"' },
      { name: "Branches", expression: '"\\(.branches) %"' },
    ],
  },
  {
    name: "load-test",
    description: "How the service does under twice the load of its busiest hour",
    schema: {
      type: "object",
      required: ["p99_ms", "errors"],
      properties: { p99_ms: { type: "number" }, errors: { type: "integer" }, requests: { type: "integer" } },
    },
    rules: [".p99_ms < 250", ".errors == 0"],
    summary: [
      { name: "99th percentile", expression: '"\\(.p99_ms) ms"' },
      { name: "Requests", expression: ".requests" },
      { name: "Errors", expression: ".errors" },
    ],
  },
];
