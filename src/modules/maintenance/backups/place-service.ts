import { createReadStream } from "node:fs";
import { mkdir, open, opendir, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { backupNamePattern } from "../../../domain/backups.ts";
import { invalid } from "../../../domain/errors.ts";
import { Bucket } from "../../../lib/bucket/bucket.ts";
import type { S3Access } from "../../../lib/bucket/client.ts";
import { isLocationUrl, parseBucketUrl } from "../../../lib/bucket/location.ts";
import { openUpload } from "../../../lib/bucket/upload.ts";
import { eachInParallel } from "../../../lib/parallel.ts";
import { inOneGo } from "../../../lib/steps.ts";
import type { Sink } from "./archive-writer.ts";
import { openFileSink, partialSuffix } from "./file-sink.ts";

/** A file of a place; `modified_at` in Unix seconds. */
interface PlacedFile {
  name: string;
  bytes: number;
  modified_at: number;
}

/** Where files are kept that are written once, and read from anywhere in them: a folder, or a part of a bucket. */
export interface Place {
  /** Its path, or its URL. */
  path: string;
  /** The folder, where it is one. */
  folder: string | undefined;
  /** The path, or the URL, of a file. */
  pathOf(name: string): string;
  /** The place with a name below it. */
  below(name: string): Place;
  /** Makes a folder that is not there. */
  prepare(): Promise<void>;
  /**
   * Lists the files, and the names with more below them, by name.
   * @param wanted which files; all when left out. @throws Error with the code ENOENT for a folder that is not there.
   */
  list(wanted?: (name: string) => boolean): Promise<{ files: PlacedFile[]; folders: string[] }>;
  /** Names what `list` would list, in any order, without looking at each file of a folder. @throws as `list` does. */
  names(wanted?: (name: string) => boolean): Promise<string[]>;
  /** Looks a file up; undefined when it is not there. */
  find(name: string): Promise<PlacedFile | undefined>;
  /** Reads so many bytes of a file that has them. */
  read(name: string, from: number, length: number): Promise<Buffer>;
  stream(name: string): AsyncIterable<Buffer>;
  /** Begins a file, which is there when it is finished. @param expectedBytes how large it may become. */
  create(name: string, expectedBytes?: number): Promise<Sink>;
  /** Writes a small file unless there is one of its name. @returns whether it did. */
  putNew(name: string, bytes: Buffer): Promise<boolean>;
  remove(name: string): Promise<void>;
  /** Removes what interrupted ones left of files of these names, longer ago than so many seconds. @returns what went. */
  removeAbandoned(names: RegExp, olderThanSeconds: number): Promise<string[]>;
}

/** A file and the place it is in. */
export interface FileOfPlace {
  place: Place;
  name: string;
}

const now = (): number => Date.now() / 1000;

/** Looks a file of a folder up; undefined when it is not there, or is none. */
async function findInFolder(folder: string, name: string): Promise<PlacedFile | undefined> {
  const found = await stat(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return found?.isFile() === true
    ? { name, bytes: found.size, modified_at: found.mtimeMs / 1000 }
    : undefined;
}

/** Names the files of a folder, of which there may be tens of thousands, a part of them in one go. */
async function namesIn(folder: string, wanted: (name: string) => boolean): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(folder, { bufferSize: inOneGo }))
    if (!entry.isDirectory() && wanted(entry.name)) names.push(entry.name);
  return names;
}

/** Answers of the file system come together: more of them than this would be taken in one go. */
const lookedUpAtOnce = 16;

/** Looks files of a folder up, and leaves out what is not there. */
async function findAll(folder: string, names: readonly string[]): Promise<PlacedFile[]> {
  const found: (PlacedFile | undefined)[] = [];
  await eachInParallel(names.entries(), lookedUpAtOnce, async ([index, name]) => {
    found[index] = await findInFolder(folder, name);
  });
  return found.filter((file) => file !== undefined);
}

/** Reads so many bytes of a file from a place on, or what there is of them. */
async function readFromFile(path: string, from: number, length: number): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await file.read(bytes, 0, length, from);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function writeNewFile(path: string, bytes: Buffer): Promise<void> {
  const sink = await openFileSink(path);
  try {
    await sink.write(bytes);
    await sink.finish();
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}

/** Keeps files in a folder. */
export function folderPlace(folder: string): Place {
  const look = (name: string): Promise<PlacedFile | undefined> => findInFolder(folder, name);
  return {
    path: folder,
    folder,
    pathOf: (name) => join(folder, name),
    below: (name) => folderPlace(join(folder, name)),
    prepare: async () => void (await mkdir(folder, { recursive: true, mode: 0o700 })),
    list: async (wanted = () => true) => {
      const entries = await readdir(folder, { withFileTypes: true });
      const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
      return {
        files: await findAll(folder, names.filter(wanted).sort()),
        folders: entries
          .filter((entry) => entry.isDirectory())
          .map(({ name }) => name)
          .sort(),
      };
    },
    names: (wanted = () => true) => namesIn(folder, wanted),
    find: look,
    read: (name, from, length) => readFromFile(join(folder, name), from, length),
    stream: (name) => createReadStream(join(folder, name)),
    create: (name) => openFileSink(join(folder, name)),
    putNew: async (name, bytes) => {
      if ((await look(name)) !== undefined) return false;
      await writeNewFile(join(folder, name), bytes);
      return true;
    },
    remove: (name) => rm(join(folder, name), { force: true }),
    removeAbandoned: async (names, olderThanSeconds) => {
      const removed: string[] = [];
      for (const name of (await readdir(folder)).filter((each) => each.endsWith(partialSuffix))) {
        const found = names.test(name.replace(/\.\d+\.partial$/, "")) ? await look(name) : undefined;
        if (found === undefined || found.modified_at > now() - olderThanSeconds) continue;
        await rm(join(folder, name), { force: true });
        removed.push(join(folder, name));
      }
      return removed;
    },
  };
}

/** Keeps files in a part of a bucket. */
function bucketPlace(bucket: Bucket): Place {
  return {
    path: bucket.url,
    folder: undefined,
    pathOf: (name) => bucket.urlOf(name),
    below: (name) => bucketPlace(bucket.below(name)),
    prepare: async () => {},
    list: async (wanted = () => true) => {
      const { objects, folders } = await bucket.list();
      const files = objects.map(({ key, bytes, modified_at }) => ({ name: key, bytes, modified_at }));
      return { files: files.filter(({ name }) => wanted(name)), folders };
    },
    names: async (wanted = () => true) =>
      (await bucket.list()).objects.map(({ key }) => key).filter((name) => wanted(name)),
    find: async (name) => {
      const found = await bucket.find(name);
      return found && { name, bytes: found.bytes, modified_at: found.modified_at };
    },
    read: (name, from, length) => bucket.read(name, from, length),
    stream: (name) => bucket.stream(name),
    create: (name, expectedBytes = 0) => openUpload(bucket, name, expectedBytes),
    putNew: (name, bytes) => bucket.putNew(name, bytes),
    remove: (name) => bucket.remove(name),
    removeAbandoned: async (names, olderThanSeconds) => {
      const removed: string[] = [];
      for (const { name, upload, begun_at } of await bucket.listUploads()) {
        if (!names.test(name) || begun_at > now() - olderThanSeconds) continue;
        await bucket.abortUpload(name, upload);
        removed.push(bucket.urlOf(name));
      }
      return removed;
    },
  };
}

/**
 * Opens a place. Touches neither disk nor network.
 * @param path of a folder, or `s3://bucket/prefix`. @param s3 how buckets are reached.
 * @throws AppError validation for another URL, and for a bucket when it is not known how to reach it.
 */
export function openPlace(path: string, s3: S3Access | undefined): Place {
  if (!isLocationUrl(path)) return folderPlace(path);
  const at = parseBucketUrl(path);
  if (at === undefined)
    throw invalid(
      `${path} is no place: name a folder, or s3:// with a bucket and a prefix of letters, digits and . _ - /`,
    );
  if (s3 === undefined)
    throw invalid(
      `${path} is in a bucket: set WAYBILL_BACKUP_S3_ACCESS_KEY and WAYBILL_BACKUP_S3_SECRET_KEY, or those of evidence`,
    );
  return bucketPlace(new Bucket(s3, at));
}

/** Names a file by the path, or URL, of it. @throws AppError validation for a URL that is none of a bucket. */
export function openFile(path: string, s3: S3Access | undefined): FileOfPlace {
  if (!isLocationUrl(path)) return { place: folderPlace(dirname(path)), name: basename(path) };
  const [, place, name] = /^(s3:\/\/.+)\/([^/]+)$/.exec(path) ?? [];
  if (place === undefined || name === undefined)
    throw invalid(`${path} names no file of a bucket, such as s3://bucket/prefix/file.tar`);
  return { place: openPlace(place, s3), name };
}

/** Opens the place that another one is in; of a whole bucket, which is in none, the same. */
export function placeAbove({ path }: Place, s3: S3Access | undefined): Place {
  if (!isLocationUrl(path)) return folderPlace(dirname(path));
  const above = path.replace(/\/[^/]+$/, "");
  return openPlace(above === "s3:/" ? path : above, s3);
}

/** Says whether a URL names a file of a bucket rather than a part of it: there are no folders to look at. */
export function isFileUrl(path: string): boolean {
  return isLocationUrl(path) && backupFileEnd.test(path);
}

const backupFileEnd = /\.tar(?:\.age)?$/;

/** Removes what interrupted backups left a day ago. */
export function removeAbandonedBackups(place: Place): Promise<string[]> {
  return place.removeAbandoned(backupNamePattern, 24 * 3_600);
}
