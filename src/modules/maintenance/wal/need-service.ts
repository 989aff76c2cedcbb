import { standardKeepSeconds } from "../../../config-wal.ts";
import type { Config } from "../../../config.ts";
import { type ClusterFacts, isPhysical } from "../../../domain/backup-format.ts";
import { chooseOutdatedBases, coversBase, longestBaseSeconds } from "../../../domain/wal.ts";
import type { EncryptedBackup, FoundBackup, NeedOfBackups } from "../backups/folder-service.ts";
import { openPlace, type Place, placeAbove } from "../backups/place-service.ts";
import { listBases, listSegments } from "./archive-service.ts";

/** A physical backup, as far as the choice of what is needed goes. */
interface Candidate {
  id: string;
  finished_at: number;
  /** Undefined of an encrypted one. */
  facts: ClusterFacts | undefined;
}

function candidatesOf(
  backups: readonly FoundBackup[],
  encrypted: readonly EncryptedBackup[],
): (Candidate & { life: string | null })[] {
  const readable = backups.flatMap(({ head, end: { cluster } }) =>
    isPhysical(head) && cluster !== undefined
      ? [{ id: head.id, finished_at: cluster.finished_at, facts: cluster, life: head.life }]
      : [],
  );
  const sealed = encrypted.map(({ id, made_at }) => ({
    id,
    finished_at: made_at + longestBaseSeconds,
    facts: undefined,
    life: null,
  }));
  return [...readable, ...sealed];
}

/** All that moments of the last seconds may be restored from. */
function inWindow<C extends Candidate>(candidates: readonly C[], since: number): C[] {
  const outdated = new Set(chooseOutdatedBases(candidates, since));
  return candidates.filter((each) => !outdated.has(each));
}

/** Finds those of a life that its archive cannot do without. */
async function neededOutside(
  archive: Place,
  candidates: readonly Candidate[],
  since: number,
): Promise<Candidate[]> {
  const log = await listSegments(archive.below("wal"));
  if (log.length === 0) return [];
  const own = await listBases(archive.below("base"));
  const all = [
    ...candidates,
    ...own.map((facts) => ({ id: facts.found.head.id, finished_at: facts.finished_at, facts })),
  ];
  const wanted = new Set(inWindow(all, since).map(({ id }) => id));
  const isCovered = ({ facts }: Candidate): boolean =>
    facts !== undefined &&
    own.some((each) => each.finished_at <= facts.finished_at && coversBase(log, each, facts));
  return candidates.filter((each) => wanted.has(each.id) && !isCovered(each));
}

/**
 * Makes what says which backups of a place a WAL archive needs: of the archive's own all within its window and the last one before, of another
 * place those of this archive's lives without which a moment of the window could not be restored.
 */
export function neededByWal(place: Place, { wal, backups: { s3 } }: Config): NeedOfBackups {
  return async (backups, encrypted) => {
    const since = Date.now() / 1000 - (wal?.keepSeconds ?? standardKeepSeconds);
    const reasonOf = (archive: Place): string =>
      `the WAL archive ${archive.path} needs it to restore moments since ${new Date(since * 1000).toISOString()}`;
    const candidates = candidatesOf(backups, encrypted);
    const above = placeAbove(place, s3);
    if (place.path.endsWith("/base") && (await listSegments(above.below("wal"))).length > 0)
      return new Map(inWindow(candidates, since).map(({ id }) => [id, reasonOf(above)]));
    const needed = new Map<string, string>();
    if (wal === undefined) return needed;
    const root = openPlace(wal.forwardTo ?? wal.folder, s3);
    const lives = new Set(candidates.flatMap(({ life }) => (life === null ? [] : [life])));
    for (const life of lives) {
      const archive = root.below(life);
      const ofLife = candidates.filter((each) => each.life === life);
      for (const { id } of await neededOutside(archive, ofLife, since)) needed.set(id, reasonOf(archive));
    }
    return needed;
  };
}
