/** What an audit package is like, for the descriptions of endpoints that give one. */
export const packageForm =
  "A tar archive, built while it is sent: records as JSON, files as they were sent, and last `SHA256SUMS`, which `sha256sum -c` checks. It breaks off when a file is damaged: an archive without `SHA256SUMS` is not complete.";

export const auditPackageResponse = {
  200: { description: "The archive", contentType: "application/x-tar" },
} as const;
