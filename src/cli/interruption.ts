import { CliError } from "./output.ts";

/**
 * Fails as soon as the process is asked to end, or the server that started it for this work is no more.
 * @param message what is told then.
 */
export function interruption(message: string): { promise: Promise<never>; forget(): void } {
  let stop = (): void => {};
  const promise = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new CliError(message));
  });
  promise.catch(() => {});
  process.once("SIGINT", stop).once("SIGTERM", stop);
  // Listening for it keeps the process alive, which it is to be only while there is something to interrupt.
  process.once("disconnect", stop);
  return {
    promise,
    forget: () => void process.off("SIGINT", stop).off("SIGTERM", stop).off("disconnect", stop),
  };
}
