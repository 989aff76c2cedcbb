/** What sessions tell people of where they were begun. */

/** Browsers by a word of what they call themselves, those first that name others, too. */
const browsers: readonly (readonly [word: RegExp, name: string])[] = [
  [/\bEdgA?\//, "Edge"],
  [/\b(?:OPR|Opera)\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS|Chromium|HeadlessChrome)\//, "Chrome"],
  [/\bVersion\/[\d.]+.*\bSafari\//, "Safari"],
  [/^curl\//, "curl"],
];

const systems: readonly (readonly [word: RegExp, name: string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/** Names a device by what its browser calls itself: `Firefox on Linux`; the text itself where it says neither. */
export function deviceOf(userAgent: string): string {
  const browser = browsers.find(([word]) => word.test(userAgent))?.[1];
  const system = systems.find(([word]) => word.test(userAgent))?.[1];
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return browser ?? system ?? (userAgent.trim() === "" ? "Unknown browser" : userAgent.trim());
}

/** Gives the network of an address, which stays the same while a device keeps changing its own: /24 for IPv4, /64 for IPv6. */
export function networkOf(address: string): string {
  const mapped = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (/^\d+\.\d+\.\d+\.\d+$/.test(mapped)) return `${mapped.replace(/\.\d+$/, "")}.0/24`;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.replace(/%.*$/, "").split("::", 2);
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array.from({ length: zeros }, () => "0"), ...after].slice(0, 4);
  while (groups.at(-1) === "0") groups.pop();
  return `${groups.join(":")}::/64`;
}
