import { Socket } from "node:net";

/**
 * A connection to PostgreSQL on which statements that are sent in one turn go out together: a call of the kernel for each,
 * and the waking of a process that it means, is a tenth of what a brief statement costs us.
 */
export class GatheringSocket extends Socket {
  #gathers = false;

  /** The driver calls this before the messages of a statement; what follows is held back until all of this turn is done. */
  override cork(): void {
    super.cork();
    if (this.#gathers) return;
    this.#gathers = true;
    super.cork();
    process.nextTick(() => {
      this.#gathers = false;
      this.uncork();
    });
  }
}
