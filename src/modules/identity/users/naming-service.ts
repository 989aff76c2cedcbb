import type { Tx } from "../../../db/connect.ts";
import { invalid } from "../../../domain/errors.ts";
import { namesLike } from "../../../domain/sign-in/claims.ts";
import type { Deps } from "../../kernel/deps.ts";
import { lockIdentities } from "../organizations/service.ts";
import { type CreatedUser, createUser, type UserInput } from "./service.ts";
import { isEmailTaken, listTakenNames } from "./store.ts";

const namesAtATime = 200;
const mostTries = 50;

async function freeName(tx: Tx, wanted: string): Promise<string> {
  const names = namesLike(wanted);
  for (let round = 0; round < mostTries; round += 1) {
    const candidates = Array.from({ length: namesAtATime }, () => names.next().value);
    const taken = await listTakenNames(tx, candidates);
    const free = candidates.find((name) => !taken.has(name));
    if (free !== undefined) return free;
  }
  throw invalid(`No name like '${wanted}' is free`);
}

/**
 * Creates a user with the name wanted, or that name with `-2` and so on behind it when it is taken. A mail address that somebody has
 * stays theirs alone. @throws AppError invalid when thousands of such names are taken.
 */
export async function createUserLike(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  input: Pick<UserInput, "name" | "email" | "display_name" | "by">,
): Promise<CreatedUser & { name: string }> {
  await lockIdentities(tx);
  const name = await freeName(tx, input.name);
  const email = input.email !== undefined && (await isEmailTaken(tx, input.email)) ? undefined : input.email;
  return { ...(await createUser(deps, tx, { ...input, name, email })), name };
}
