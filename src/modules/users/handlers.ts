import type { userEndpoints } from "../../contract/users.ts";
import type { Handlers } from "../call.ts";

export const userHandlers: Handlers<typeof userEndpoints> = {};
