import { repoEndpoints } from "../../src/contract/repos.ts";
import { tagEndpoints } from "../../src/contract/tags.ts";
import { repos } from "../data/repos.ts";
import type { Demo } from "../plan.ts";

/** Tags the repos that reports have created. */
export function tagRepos({ api, org, progress }: Demo): Promise<void> {
  return progress.step("Tags of repos", repos.length, async (advance) => {
    const { repos: found } = await api.call(repoEndpoints.list_repos, {
      params: { org },
      query: { per_page: "50" },
    });
    for (const repo of repos) {
      const known = found.find((candidate) => candidate.name === repo.name);
      if (known !== undefined)
        await api.call(tagEndpoints.patch_tags, {
          params: { org, resource_type: "repo", resource_id: known.id },
          body: { set_tags: repo.tags },
        });
      advance();
    }
  });
}
