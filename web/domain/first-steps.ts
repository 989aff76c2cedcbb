import {
  artifactCommand,
  attestationCommand,
  type Command,
  type CommandPlace,
  environmentCommand,
  flowCommand,
  reporterCommand,
  sampleCommit,
  sampleFingerprint,
  trailCommand,
} from "./commands.ts";
import { attachCommand, policyCommand } from "./rule-commands.ts";

/** What an organization has so far; undefined for what it does not have. */
export interface Known {
  flow: string | undefined;
  trail: string | undefined;
  /** Fingerprint of an artifact of that trail. */
  artifact: string | undefined;
  hasAttestation: boolean;
  environment: { name: string; type: string } | undefined;
  hasReport: boolean;
  /** Whether a policy is attached anywhere. */
  hasPolicy: boolean;
}

/** A step on the way to a first verdict. */
export interface Step {
  key: string;
  title: string;
  /** What it is good for. */
  text: string;
  isDone: boolean;
  /** The page that does it, too. */
  page?: "environments" | "flows" | "policies";
  /** To be run one after the other. */
  commands: readonly Command[];
}

const policyName = "known-origin";

/** Steps of the process: how something is made, and what proves it. */
function makingSteps(place: CommandPlace, known: Known): Step[] {
  const { flow = "web-app", trail = "1", artifact = sampleFingerprint } = known;
  const wanted = { flow_name: flow, trail_name: trail, artifact_fingerprint: artifact };
  return [
    {
      key: "flow",
      title: "Make a flow",
      text: "A flow is what you build and deliver: a service, an app, a library.",
      isDone: known.flow !== undefined,
      page: "flows",
      commands: [flowCommand(place, flow)],
    },
    {
      key: "trail",
      title: "Begin a trail",
      text: "A trail is one run of it, mostly of a pipeline for a commit.",
      isDone: known.trail !== undefined,
      commands: [trailCommand(place, flow, trail)],
    },
    {
      key: "artifact",
      title: "Report an artifact",
      text: "What the run made, by the fingerprint of its contents.",
      isDone: known.artifact !== undefined,
      commands: [
        artifactCommand(place, {
          flow_name: flow,
          trail_name: trail,
          fingerprint: artifact,
          filename: "web-app",
          template_reference_name: "app",
          git_commit: sampleCommit,
        }),
      ],
    },
    {
      key: "attestation",
      title: "Attest what was checked",
      text: "Tests, scans, reviews: evidence that stays with the artifact.",
      isDone: known.hasAttestation,
      commands: [
        attestationCommand(place, { ...wanted, attestation_name: "unit-tests", attestation_type: "junit" }),
      ],
    },
  ];
}

/** Steps of the runtime: what runs where, and whether it may. */
function runningSteps(place: CommandPlace, known: Known, now: number): Step[] {
  const { environment = { name: "production", type: "docker" }, artifact } = known;
  const report = reporterCommand(place, environment, now, artifact);
  return [
    {
      key: "environment",
      title: "Make an environment",
      text: "A place where software runs: a cluster, a host, a bucket.",
      isDone: known.environment !== undefined,
      page: "environments",
      commands: [environmentCommand(place, environment.name, environment.type)],
    },
    {
      key: "report",
      title: "Report a snapshot",
      text: "What runs there now. A reporter does it again and again.",
      isDone: known.hasReport,
      commands: report === undefined ? [] : [report],
    },
    {
      key: "policy",
      title: "Attach a policy",
      text: "Rules for what may run there. From now on everything that runs has a verdict.",
      isDone: known.hasPolicy,
      page: "policies",
      commands: [policyCommand(place, policyName), attachCommand(place, policyName, environment.name)],
    },
  ];
}

/**
 * Lists the steps to a first verdict, with commands that go on from what there is already.
 * @param now Unix seconds.
 */
export function firstSteps(place: CommandPlace, known: Known, now: number): Step[] {
  return [...makingSteps(place, known), ...runningSteps(place, known, now)];
}
