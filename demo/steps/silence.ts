import { environmentEndpoints } from "../../src/contract/environments.ts";
import { silenceEndpoints } from "../../src/contract/silence.ts";
import { snapshotReportEndpoints } from "../../src/contract/snapshot-reports.ts";
import { images, sites } from "../model/sites.ts";
import type { Demo } from "../plan.ts";

/** Name of the environment whose reporter falls silent. */
export const silentEnvironment = "lighthouse-edge";

/** How long it may be silent, in seconds: the least there is. */
const least = 60;

/** How long the others may, whose reports nobody continues: a week. */
const longest = 7 * 86_400;

/**
 * Reports once on an environment, whose reporter then falls silent: a minute later everybody can see that. The others are given
 * time, because their rhythm was learned while the demo was filled.
 */
export function fallSilent({ api, org, progress, now }: Demo): Promise<void> {
  return progress.step("An environment that falls silent", sites.length + 1, async (advance) => {
    const params = { org, env_name: silentEnvironment };
    await api.call(environmentEndpoints.create_env, {
      params: { org },
      body: {
        name: silentEnvironment,
        type: "docker",
        description: "A box in a lighthouse, with a bad line",
      },
    });
    await api.call(snapshotReportEndpoints.docker_report, {
      params,
      body: {
        type: "docker",
        artifacts: [
          {
            digests: { [images.exporter.name]: images.exporter.fingerprint },
            creationTimestamp: Math.floor(now) - 86_400,
          },
        ],
      },
    });
    await api.call(silenceEndpoints.put_environment_silence, { params, body: { limit_seconds: least } });
    advance();
    for (const { name } of sites) {
      await api.call(silenceEndpoints.put_environment_silence, {
        params: { org, env_name: name },
        body: { limit_seconds: longest },
      });
      advance();
    }
  });
}
