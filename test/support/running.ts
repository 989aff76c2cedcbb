import type { TestApp, TestOrg } from "./app.ts";
import { commitOf } from "./artifacts.ts";
import { build, orgWith, run } from "./deployments.ts";
import { attachPolicies, createPolicy, policyText } from "./policies.ts";

/** An organization with two environments, one of them with a policy; `web` and `api` were built, the rest was not. */
export async function orgThatRuns(app: TestApp): Promise<TestOrg> {
  const org = await orgWith(app, "prod", "test");
  await build(org, "web", "shop", { git_commit: commitOf("web") });
  await build(org, "api", "depot");
  await createPolicy(org, "origin", policyText("provenance: {required: true}"));
  await attachPolicies(org, "prod", "origin");
  await run(org, "prod", ["web", "stray"]);
  await run(org, "test", ["api", "Web-Proxy"]);
  return org;
}
