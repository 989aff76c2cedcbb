import { orgs } from "../data.ts";
import { measure } from "../measure.ts";
import { atLeast, figureOf, type Scenario } from "../scenario.ts";

const reports = "artifacts: new ones reported, each durable";

/** The scenario of reporting artifacts: new fingerprints, trails and commits, as pipelines send them. */
export const artifactsScenario: Scenario = {
  name: "artifacts",
  run: async (setting) => {
    const subject = {
      scenario: reports,
      path: `/api/v2/artifacts/${orgs.reports}`,
      report: "artifact" as const,
    };
    const figures = await measure(setting, subject, [1, 16, 64]);
    return {
      figures,
      verdicts: [
        atLeast(
          "artifacts reported at 64 connections",
          figureOf(figures, reports, 64).own.throughput,
          3000,
          "/s",
        ),
      ],
    };
  },
};
