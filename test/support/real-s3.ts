import type { S3Access } from "../../src/lib/bucket/client.ts";

/** A bucket of a real service, for tests. */
export interface RealBucket {
  access: S3Access;
  bucket: string;
}

/** What tests say that have no service to work with. */
export const withoutS3 =
  "WAYBILL_TEST_S3 (http://KEY:SECRET@127.0.0.1:7070/bucket, as of versitygw) is not set";

/** Finds the bucket that `WAYBILL_TEST_S3` names, where tests make keys of their own; undefined without one. */
export function findRealBucket(): RealBucket | undefined {
  const given = process.env["WAYBILL_TEST_S3"];
  if (given === undefined) return undefined;
  const { origin, username, password, pathname } = new URL(given);
  return {
    bucket: pathname.slice(1),
    access: {
      endpoint: origin,
      region: process.env["WAYBILL_TEST_S3_REGION"] ?? "us-east-1",
      accessKey: decodeURIComponent(username),
      secretKey: decodeURIComponent(password),
    },
  };
}
