import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";

import { readConfig } from "../config.ts";
import { isLocationUrl } from "../lib/bucket/location.ts";
import {
  type FileOfPlace,
  isFileUrl,
  openFile,
  openPlace,
  type Place,
} from "../modules/maintenance/backups/place-service.ts";
import { UsageError } from "./output.ts";

/** Tells where backups go when nothing is said. */
export function standardPlace(): Place {
  const { backups, dataDir } = readConfig();
  return openPlace(backups.to ?? join(dataDir, "backups"), backups.s3);
}

const absolute = (name: string): string => (isLocationUrl(name) ? name : resolve(name));

/** Opens the folder, or the part of a bucket, of this name. */
export function placeNamed(name: string): Place {
  return openPlace(absolute(name), readConfig().backups.s3);
}

/** Finds the file of this path or URL, whether it is there or not. */
export function fileNamed(name: string): FileOfPlace {
  return openFile(absolute(name), readConfig().backups.s3);
}

/** Says whether there is a folder of this name, or whether a URL names a part of a bucket rather than a file. */
export function isPlace(name: string): Promise<boolean> {
  if (isLocationUrl(name)) return Promise.resolve(!isFileUrl(name));
  return stat(name).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Where a backup goes: to standard output, to this file, or to a new file of this place. */
export type Target =
  | { kind: "stream" }
  | { kind: "file"; file: FileOfPlace }
  | { kind: "place"; place: Place };

/** Finds where a backup goes. @throws UsageError for a file that is there already. */
export async function targetOf(to: string | undefined): Promise<Target> {
  if (to === "-") return { kind: "stream" };
  if (to === undefined || to.endsWith("/") || (await isPlace(to))) {
    const place = to === undefined ? standardPlace() : placeNamed(to);
    await place.prepare();
    return { kind: "place", place };
  }
  const file = fileNamed(to);
  const { place, name } = file;
  if ((await place.find(name)) !== undefined)
    throw new UsageError(`${place.pathOf(name)} is there already: name another file, or a folder`);
  return { kind: "file", file };
}
