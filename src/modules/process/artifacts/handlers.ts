import type { artifactEndpoints } from "../../../contract/artifacts.ts";
import type { Handlers } from "../../kernel/call.ts";
import { listAnswer } from "../../kernel/list-answer.ts";
import { readArtifact, readArtifactList, readArtifactsOfCommit } from "./read-service.ts";
import { reportArtifact } from "./service.ts";
import { findLatestCommit } from "./store.ts";

/**
 * Reads the branch that is asked for: as it is encoded or, by clients that put it into the URL as it is, everything that
 * follows (contract flows 1.1).
 */
function branchesOf(url: string, branch: string | undefined): string[] | null {
  const [, written] = /[?&]branch=(.*)$/s.exec(url) ?? [];
  return branch ? [branch, ...(written === undefined ? [] : [written])] : null;
}

export const artifactHandlers: Handlers<typeof artifactEndpoints> = {
  create_artifact: async (deps, call) => {
    const { params, body, bodyBytes, actor, org } = call;
    await reportArtifact(deps, org, { flow_name: params.flow_name, artifact: body, actor, bodyBytes });
    return { status: 201, body: { message: "OK" } };
  },

  list_artifacts: async (deps, { query, org }) => {
    const { list, putInto } = await readArtifactList(deps, org, query);
    return { status: 200, body: listAnswer("", list, "", putInto) };
  },

  get_artifact_by_fingerprint: async (deps, { params, query, org }) => ({
    status: 200,
    body: await readArtifact(deps, org, { ...params, ...query }),
  }),

  get_artifact_by_commit_sha: async (deps, { params, query, org }) => {
    const { flow_name, commit_sha: commit } = params;
    const asked = { flow_name, commit, trail: query.trail };
    const { list, putInto } = await readArtifactsOfCommit(deps, org, asked);
    return { status: 200, body: listAnswer("", list, "", putInto) };
  },

  get_latest_artifact_commit: async (deps, { params, query, org, url }) => {
    const branches = branchesOf(url, query.branch);
    const commit = await findLatestCommit(deps.db, org.id, { ...params, branches });
    return { status: 200, body: { latest_commit: commit ?? null } };
  },
};
