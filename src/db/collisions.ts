import { collision } from "../domain/errors.ts";
import { sqlState, sqlStateOf } from "./sqlstate.ts";

const attempts = 4;

/** Says whether a transaction failed because of others at the same time. */
export function isTransient(error: unknown): boolean {
  const code = sqlStateOf(error);
  return (
    code === sqlState.serializationFailure ||
    code === sqlState.deadlockDetected ||
    code === sqlState.lockNotAvailable
  );
}

/** Says whether this was chosen to end a deadlock. */
export function isDeadlock(error: unknown): boolean {
  return sqlStateOf(error) === sqlState.deadlockDetected;
}

/**
 * Does something that PostgreSQL does as a whole or not at all, and does it again when it collided with others.
 * @param isCollision says which failures are worth that.
 * @throws AppError conflict for what keeps colliding, which clients know to retry.
 */
export async function pastCollisions<T>(
  work: () => Promise<T>,
  isCollision: (error: unknown) => boolean,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await work();
    } catch (error) {
      if (!isCollision(error)) throw error;
      if (attempt === attempts) throw collision(error);
    }
}
