import { encryptedSuffix, parseBackupName } from "../../../domain/backups.ts";
import { chooseOutdatedBases, longestBaseSeconds } from "../../../domain/wal.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Place } from "../backups/place-service.ts";
import { type ArchivePlaces, listBaseNames, listBases, pruneLog } from "./archive-service.ts";
import { readSentBases, type SentBase, writeSentBases } from "./forwarded-service.ts";

/** A physical backup in an archive that files are brought to. */
interface Candidate {
  name: string;
  /** Unix seconds. */
  begun_at: number;
  finished_at: number;
  /** Undefined of an encrypted one of which nothing is noted: what of the log it needs is not known. */
  noted: SentBase | undefined;
}

const begunAt = (name: string): number => parseBackupName(name)?.made_at ?? 0;

const candidateOf = (noted: SentBase): Candidate => ({
  name: noted.name,
  begun_at: begunAt(noted.name),
  finished_at: noted.finished_at,
  noted,
});

/**
 * Finds what is there and not noted: whoever made it ended before that. A file has its name only when it is complete, so each of them
 * counts. One that can be read tells what it needs of the log.
 */
async function findUnnoted(
  base: Place,
  names: readonly string[],
  { sent_bytes }: Pick<SentBase, "sent_bytes">,
): Promise<Candidate[]> {
  if (names.length === 0) return [];
  const wanted = new Set(names);
  const readable = (await listBases(base)).filter(({ found }) => wanted.has(found.file.name));
  const adopted = readable.map(({ found, timeline, start_lsn, end_lsn, finished_at }) => {
    const { bytes, file } = found;
    return candidateOf({ name: file.name, bytes, timeline, start_lsn, end_lsn, finished_at, sent_bytes });
  });
  const sealed = names.filter((name) => name.endsWith(encryptedSuffix));
  return [
    ...adopted,
    ...sealed.map((name) => {
      const begun_at = begunAt(name);
      return { name, begun_at, finished_at: begun_at + longestBaseSeconds, noted: undefined };
    }),
  ];
}

/** The first to begin needs most of the log. Of two of one second the one of which less is known may be it. */
function firstBegun(candidates: readonly Candidate[]): Candidate | undefined {
  const isKnown = ({ noted }: Candidate): number => (noted === undefined ? 0 : 1);
  return candidates.toSorted(
    (one, other) => one.begun_at - other.begun_at || isKnown(one) - isKnown(other),
  )[0];
}

async function writeNoted(root: string, candidates: readonly Candidate[]): Promise<void> {
  const noted = candidates.flatMap((each) => (each.noted === undefined ? [] : [each.noted]));
  await writeSentBases(
    root,
    noted.toSorted((one, other) => one.finished_at - other.finished_at),
  );
}

/**
 * Notes a physical backup that was brought to an archive, and removes what no moment since then needs: other physical backups, also those of which
 * nothing is noted, and what of the log is older than the oldest one that stays.
 * @param root folder of the notes. @param since Unix seconds. @returns how many files went.
 */
export async function keepSentBase(
  { log }: Pick<Deps, "log">,
  root: string,
  { wal, base }: ArchivePlaces,
  { made, since }: { made: SentBase; since: number },
): Promise<number> {
  const noted = [...(await readSentBases(root)), made];
  await writeSentBases(root, noted);
  const there = new Set([...(await listBaseNames(base)), made.name]);
  const known = new Set(noted.map(({ name }) => name));
  const all = [
    ...noted.filter(({ name }) => there.has(name)).map(candidateOf),
    ...(await findUnnoted(
      base,
      [...there].filter((name) => !known.has(name)),
      made,
    )),
  ];
  const outdated = new Set(chooseOutdatedBases(all, since));
  for (const { name, noted: note } of outdated) {
    await base.remove(name);
    if (note === undefined)
      log.warn({ file: base.pathOf(name) }, "Removed an outdated physical backup of which nothing was noted");
  }
  const left = all.filter((each) => !outdated.has(each));
  await writeNoted(root, left);
  const first = firstBegun(left);
  if (first?.noted !== undefined) return outdated.size + (await pruneLog(wal, first.noted));
  if (first !== undefined)
    log.warn(
      { file: base.pathOf(first.name) },
      "What the oldest physical backup needs of the WAL is not noted: nothing of it is removed until that backup is outdated, too",
    );
  return outdated.size;
}
