/** A place in a bucket. */
export interface BucketLocation {
  bucket: string;
  /** What keys there begin with: empty, or ending with a slash. */
  prefix: string;
}

const pattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w.-][\w./-]{0,511})?)?$/;

/** Says whether a text names something by a URL, such as `s3://bucket/prefix`. */
export function isLocationUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** Reads `s3://bucket/prefix`; undefined for anything else, also for a prefix with empty parts, or parts of dots. */
export function parseBucketUrl(text: string): BucketLocation | undefined {
  const [, bucket, path = ""] = pattern.exec(text) ?? [];
  if (bucket === undefined) return undefined;
  const parts = path.replace(/\/$/, "").split("/");
  if (path === "" || path === "/") return { bucket, prefix: "" };
  if (parts.some((part) => /^\.*$/.test(part))) return undefined;
  return { bucket, prefix: `${parts.join("/")}/` };
}

/** Writes a place in a bucket as a URL without a slash at its end. */
export function bucketUrl({ bucket, prefix }: BucketLocation): string {
  return `s3://${bucket}/${prefix}`.replace(/\/$/, "");
}
