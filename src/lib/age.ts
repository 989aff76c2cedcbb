import { loadPart } from "./parts.ts";

/** What a file that is encrypted by age (https://age-encryption.org/v1) begins with. */
export const ageStart = Buffer.from("age-encryption.org/v1\n");

const recipientPattern = /^age1[a-z0-9]{50,4000}$/;
const identityPattern = /^AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,4000}$/;

/** Why something encrypted could not be read: none of the identities is one of its recipients, or its bytes were changed. */
export class AgeError extends Error {
  readonly reason: "identity" | "damaged";

  constructor(reason: AgeError["reason"], cause: unknown) {
    super(reason === "identity" ? "None of the identities is a recipient" : "The bytes were changed", {
      cause,
    });
    this.reason = reason;
  }
}

/** Says whether a text looks like a recipient (`age1…`): its checksum is compared when it is used. */
export function isRecipient(text: string): boolean {
  return recipientPattern.test(text);
}

/** Reads identities (`AGE-SECRET-KEY-1…`) as `age-keygen` writes them, one a line beside comments; undefined for anything else. */
export function parseIdentities(text: string): string[] | undefined {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const identities = lines.filter((line) => line !== "" && !line.startsWith("#"));
  return identities.length > 0 && identities.every((each) => identityPattern.test(each))
    ? identities
    : undefined;
}

/** Loads the library, which commands without anything encrypted do not wait for. */
const library = () => loadPart("age", () => import("age-encryption"));

/** Encrypts a stream while it passes, for whoever has the identity of any of the recipients. */
export type AgeEncryption = (source: ReadableStream<Uint8Array>) => Promise<ReadableStream<Uint8Array>>;

/** What the first stanza of a header, with these words and nothing else, stands in. */
const wordsPattern = /^-> ([!-~]+(?: [!-~]+)*)\n\n/;

/** Bytes of the beginning of a file that the words in the clear are among. */
export const clearBytes = 256;

/**
 * Prepares an encryption.
 * @param clear words that anybody may read: a stanza of the header, which age ignores as it is for none of its recipients, and which nobody without the key
 *   changes unnoticed.
 * @throws Error for a recipient that was not copied in full.
 */
export async function ageEncryption(
  recipients: readonly string[],
  clear: readonly string[] = [],
): Promise<AgeEncryption> {
  const { Encrypter, Stanza } = await library();
  const encrypter = new Encrypter();
  if (clear.length > 0)
    encrypter.addRecipient({ wrapFileKey: () => [new Stanza([...clear], new Uint8Array())] });
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return (source) => encrypter.encrypt(source);
}

/** Reads the words in the clear from the first `clearBytes` of a file; none where there are none. */
export function readClearWords(start: Buffer): string[] {
  const header = start.toString("latin1", ageStart.length);
  return wordsPattern.exec(header)?.[1]?.split(" ") ?? [];
}

/**
 * Decrypts what was encrypted for one of these identities, piece by piece: none is given on before it is known to be as it was written.
 * @throws AgeError when it cannot be; what reading the source fails with.
 */
export async function* decryptAge(
  source: AsyncIterable<Uint8Array>,
  identities: readonly string[],
): AsyncGenerator<Buffer> {
  const { Decrypter } = await library();
  const decrypter = new Decrypter();
  let failure: { error: unknown } | undefined;
  async function* noticing(): AsyncGenerator<Uint8Array> {
    try {
      yield* source;
    } catch (error) {
      failure = { error };
      throw error;
    }
  }
  const understood = (error: unknown): unknown => {
    if (failure !== undefined) return failure.error;
    const isForeign = error instanceof Error && error.message.startsWith("no identity matched");
    return new AgeError(isForeign ? "identity" : "damaged", error);
  };
  try {
    for (const identity of identities) decrypter.addIdentity(identity);
  } catch (error) {
    throw new AgeError("identity", error);
  }
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  try {
    reader = (await decrypter.decrypt(ReadableStream.from(noticing()))).getReader();
  } catch (error) {
    throw understood(error);
  }
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw understood(error);
      });
      if (done) return;
      yield Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
