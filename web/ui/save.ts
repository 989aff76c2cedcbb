/** A file that is to be kept. */
export interface Download {
  name: string;
  content: Blob;
}

/** Hands a file to the browser, which keeps it where downloads are. */
export function saveAs({ name, content }: Download): void {
  const href = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
