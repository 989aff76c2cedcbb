import {
  clientCommand,
  type Command,
  type CommandPlace,
  continued,
  curlCommand,
  filePart,
  quoted,
  sampleFingerprint,
} from "./commands.ts";

/** Writes how a policy is made: one that asks where everything that runs comes from. */
export function policyCommand(place: CommandPlace, name: string): Command {
  const text = [
    "_schema: https://kosli.com/schemas/policy/environment/v1",
    "artifacts:",
    "  provenance:",
    "    required: true",
    "",
  ].join("\n");
  return {
    curl: continued([
      curlCommand(place, {
        method: "PUT",
        path: `/policies/${encodeURIComponent(place.org)}`,
        form: { payload: { name } },
      }),
      filePart("policy_file", "policy.yaml", text),
    ]),
    client: `cat > policy.yaml <<'END'\n${text}END\n${clientCommand(place, `create policy ${quoted(name)} policy.yaml`, {})}`,
  };
}

/** Writes how a policy is attached to an environment. */
export function attachCommand(place: CommandPlace, policy: string, environment: string): Command {
  const segments = [place.org, environment].map(encodeURIComponent);
  return {
    curl: curlCommand(place, {
      method: "POST",
      path: `/environments/${segments.join("/")}/policies`,
      json: { policy_names: [policy] },
    }),
    client: clientCommand(place, `attach-policy ${quoted(policy)}`, { environment }),
  };
}

/** Writes how a control is made. */
export function controlCommand(place: CommandPlace): Command {
  return {
    curl: curlCommand(place, {
      method: "POST",
      path: `/controls/${encodeURIComponent(place.org)}`,
      json: {
        identifier: "CC-1",
        name: "Releases are approved",
        description: "Who releases is not who built.",
      },
    }),
    client: undefined,
  };
}

/** Writes how an artifact is trusted in an environment. */
export function allowCommand(place: CommandPlace): Command {
  const [env, artifact_name] = ["production", "registry.example/cache:7"];
  const artifact_fingerprint = sampleFingerprint;
  const description = "Read and approved by the platform team";
  return {
    curl: curlCommand(place, {
      method: "PUT",
      path: `/allowlists/${encodeURIComponent(place.org)}/${env}`,
      json: { artifact_name, artifact_fingerprint, description },
    }),
    client: clientCommand(place, `allow artifact ${quoted(artifact_name)}`, {
      environment: env,
      fingerprint: artifact_fingerprint,
      reason: description,
    }),
    fillIn: "environment, artifact and fingerprint",
  };
}

/** Writes how a type of attestations is made that demands a number of at least 80. */
export function attestationTypeCommand(place: CommandPlace, name: string): Command {
  const data = {
    name,
    description: "Share of lines that tests run",
    evaluator: { content_type: "jq", rules: [".percent >= 80"] },
    summary: [{ name: "Covered", expression: ".percent" }],
  };
  return {
    curl: curlCommand(place, {
      method: "POST",
      path: `/custom-attestation-types/${encodeURIComponent(place.org)}`,
      form: { data_json: data },
    }),
    client: clientCommand(place, `create attestation-type ${quoted(name)}`, { jq: ".percent >= 80" }),
  };
}
