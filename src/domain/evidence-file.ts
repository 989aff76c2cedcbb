const fallbackName = "evidence";

/** Longest file name that every system takes, in bytes of UTF-8. */
const maxNameBytes = 200;

// Control characters, and those that change the direction of what follows: `gpj.exe` must not look like `exe.jpg`.
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

function cut(name: string): string {
  const bytes = Buffer.from(name, "utf8");
  if (bytes.length <= maxNameBytes) return name;
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : "";
  const room = maxNameBytes - Buffer.byteLength(extension);
  // A character cut in half decodes to the replacement character.
  return (
    bytes
      .subarray(0, room)
      .toString("utf8")
      .replace(/\ufffd+$/u, "") + extension
  );
}

/**
 * Gives the name under which an uploaded file is kept: the last part of the path it came with, at most 200 bytes long,
 * without characters that deceive or that no database or file system takes.
 */
export function evidenceName(given: string | undefined): string {
  const base = (given ?? "")
    .toWellFormed()
    .replace(/^.*[/\\]/s, "")
    .replace(unsafe, "")
    .trim();
  return /^\.*$/.test(base) ? fallbackName : cut(base);
}

const bytesType = "application/octet-stream";
const jsonType = "application/json";
const textType = "text/plain; charset=utf-8";

const signatures: [contentType: string, start: number[]][] = [
  ["application/gzip", [0x1f, 0x8b, 0x08]],
  ["application/zip", [0x50, 0x4b, 0x03, 0x04]],
  ["application/pdf", [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
];

/** Every media type that evidence is served as; first the one for unrecognised files. */
export const evidenceContentTypes: readonly string[] = [
  bytesType,
  jsonType,
  textType,
  ...signatures.map(([contentType]) => contentType),
];

function isText(head: Uint8Array): boolean {
  try {
    // A character that the end of the head cuts in half is no fault.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    // oxlint-disable-next-line no-control-regex
    return !/[\u0000-\u0008\u000b\u000e-\u001f\u007f]/.test(text);
  } catch {
    return false;
  }
}

/**
 * Chooses the media type to serve a file as, from its first bytes and its name. No type makes a browser execute
 * anything: pages, scripts and XML are plain text, unrecognised files are bytes.
 */
export function evidenceContentType(head: Uint8Array, name: string): string {
  const found = signatures.find(([, start]) => start.every((byte, index) => head[index] === byte));
  if (found !== undefined) return found[0];
  if (head.length === 0 || !isText(head)) return bytesType;
  const isJson = /\.(?:json|sarif)$/i.test(name) && /^\s*[[{]/.test(Buffer.from(head).toString("utf8"));
  return isJson ? jsonType : textType;
}

/**
 * Writes the `Content-Disposition` of a download (RFC 6266): the name in ASCII for old clients, and in full (RFC 8187)
 * when ASCII does not suffice.
 */
export function attachmentDisposition(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/gu, "_");
  if (ascii === name) return `attachment; filename="${name}"`;
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
