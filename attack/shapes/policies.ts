import { form, json } from "../client.ts";
import { digest, each, numbers, policyOf, policyOfText, reportOf, type Scene, type Shape } from "../scene.ts";

/** Number of rules that the aliases of a 12 KB file stand for. */
const aliases = 3900;
const aliasPolicy = policyOfText(`[&r {name: a, type: generic}${",*r".repeat(aliases - 1)}]`);

/** Numbers of rules to try, greatest first, to find out how many a policy may have. */
const tries = [1000, 500, 250, 200, 150, 100, 75, 50, 25];

/** Reports as many artifacts as the environment's policy allows. */
async function reportMost(scene: Scene, environment: string, salt: string): Promise<void> {
  for (let { artifacts } = scene.scale; artifacts >= 50; artifacts = Math.floor(artifacts / 2)) {
    const answer = await scene.report(environment, reportOf(artifacts, salt));
    if (answer.status < 300) return scene.note(`${artifacts} artifacts`);
    if (answer.status !== 400 && answer.status !== 413)
      return scene.note(`${artifacts} artifacts: ${answer.status}`);
  }
}

const aliased: Shape = {
  name: "policy-aliases",
  what: "a policy of 12 KB whose aliases stand for 3,900 rules, and a report of 500 artifacts under it",
  peakLimit: 150,
  prepare: async (scene) => {
    await scene.createEnvironment("aliased");
    const report = reportOf(Math.min(500, scene.scale.artifacts), "aliased");
    return async () => {
      const { status } = await scene.putPolicy("aliased", aliasPolicy);
      if (status < 300) {
        scene.wrong("the policy is stored, not refused");
        const body = json({ policy_names: ["aliased"] });
        await scene.client.poke("POST", `/environments/${scene.org}/aliased/policies`, { body });
      }
      await scene.report("aliased", report);
    };
  },
};

const biggestPolicy: Shape = {
  name: "policy-biggest",
  long: true,
  what: "the policy with the most rules there may be, attached and judging the most artifacts there may be",
  peakLimit: 150,
  prepare: async (scene) => {
    await scene.createEnvironment("most-rules");
    return async () => {
      for (const rules of tries) {
        const { status } = await scene.putPolicy("most-rules", policyOf(rules));
        if (status >= 300) continue;
        scene.note(`${rules} rules`);
        break;
      }
      const body = json({ policy_names: ["most-rules"] });
      await scene.client.poke("POST", `/environments/${scene.org}/most-rules/policies`, { body });
      await reportMost(scene, "most-rules", "most-rules");
    };
  },
};

const largeReport: Shape = {
  name: "report-rules",
  what: "a report of 10,000 artifacts judged by 50 rules, twice with nothing in common",
  peakLimit: 150,
  prepare: async (scene) => {
    await scene.putPolicy("honest-report", policyOf(scene.scale.rules));
    await scene.createEnvironment("judged", ["honest-report"]);
    const reports = [0, 1].map((turn) => reportOf(scene.scale.artifacts, `judged ${turn}`));
    return async () => {
      for (const report of reports) {
        const { status, text } = await scene.report("judged", report);
        if (status >= 400) scene.note(`${status} ${text.slice(0, 120)}`);
      }
    };
  },
};

const builtReport: Shape = {
  name: "report-built",
  long: true,
  what: "a report of artifacts that three flows have built, judged by 50 rules in each",
  peakLimit: 150,
  prepare: async (scene) => {
    const flows = ["built-a", "built-b", "built-c"];
    for (const flow of flows) {
      await scene.flow(flow, "version: 1\ntrail:\n  artifacts:\n    - name: app\n");
      await each(numbers(scene.scale.built), 64, (index) =>
        scene.artifact(flow, `run-${index % 50}`, digest(`built ${index}`)),
      );
    }
    await scene.putPolicy("honest-built", policyOf(scene.scale.rules));
    await scene.createEnvironment("built", ["honest-built"]);
    const report = reportOf(scene.scale.built, "built");
    return async () => {
      const { status, text } = await scene.report("built", report);
      if (status >= 400) scene.note(`${status} ${text.slice(0, 120)}`);
    };
  },
};

const newVersion: Shape = {
  name: "policy-version",
  what: "another version of a policy that five large environments are judged by, in jobs",
  peakLimit: 150,
  long: true,
  prepare: async (scene) => {
    await scene.putPolicy("versions", policyOf(scene.scale.rules));
    for (const index of numbers(5)) {
      const name = `versions-${index}`;
      await scene.createEnvironment(name, ["versions"]);
      await scene.report(name, reportOf(scene.scale.artifacts / 5, name));
    }
    return async () => {
      const { status } = await scene.putPolicy("versions", policyOf(scene.scale.rules, "-again"));
      scene.note(`version: ${status}`);
      await scene.pause();
    };
  },
};

const preview: Shape = {
  name: "policy-preview",
  long: true,
  what: "tries of a policy on what runs, as large as they may be, four at once",
  peakLimit: 150,
  prepare: async (scene) => {
    const { artifacts } = scene.scale;
    await scene.createEnvironment("tried");
    await scene.report("tried", reportOf(artifacts, "tried"));
    const rules = Math.floor(200_000 / artifacts) - 1;
    const body = form(
      { data_json: JSON.stringify({ environments: ["tried"] }) },
      { policy_file: policyOf(Math.min(rules, scene.scale.rules)) },
    );
    return async () => {
      await each(numbers(4), 4, () => scene.client.poke("POST", `/policies/${scene.org}/preview`, { body }));
    };
  },
};

const plainReport: Shape = {
  name: "report-biggest",
  long: true,
  what: "the biggest report without any policy: 20,000 instances, then one more than may be",
  peakLimit: 250,
  prepare: async (scene) => {
    await scene.createEnvironment("plain");
    const reports = [scene.scale.artifacts, scene.scale.artifacts + 1, scene.scale.artifacts * 2].map(
      (artifacts) => reportOf(artifacts, "plain"),
    );
    return async () => {
      for (const report of reports) await scene.report("plain", report);
    };
  },
};

/** Shapes of policies and reports. */
export const policyShapes: Shape[] = [
  aliased,
  biggestPolicy,
  largeReport,
  builtReport,
  newVersion,
  preview,
  plainReport,
];
