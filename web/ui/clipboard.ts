/** Copies a text by the command of browsers that give pages no clipboard: of all that are not on https or this machine. */
function copyByCommand(text: string): boolean {
  let isGiven = false;
  const give = (event: ClipboardEvent): void => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    isGiven = true;
  };
  document.addEventListener("copy", give);
  try {
    // oxlint-disable-next-line typescript/no-deprecated -- there is nothing else on plain http.
    return document.execCommand("copy") && isGiven;
  } finally {
    document.removeEventListener("copy", give);
  }
}

/** Copies a text. @returns whether the browser let it. */
export async function copyText(text: string): Promise<boolean> {
  if (!("clipboard" in navigator)) return copyByCommand(text);
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
