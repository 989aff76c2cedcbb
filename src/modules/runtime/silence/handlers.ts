import type { silenceEndpoints } from "../../../contract/silence.ts";
import type { Handlers } from "../../kernel/call.ts";
import { putSilenceLimit, readSilence } from "./service.ts";

export const silenceHandlers: Handlers<typeof silenceEndpoints> = {
  get_environment_silence: async (deps, { org, params }) => ({
    status: 200,
    body: await readSilence(deps, org, params.env_name),
  }),
  put_environment_silence: async (deps, call) => {
    await putSilenceLimit(deps, call, call.params.env_name, call.body.limit_seconds);
    return { status: 200, body: "OK" };
  },
};
