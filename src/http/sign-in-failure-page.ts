import { createHash } from "node:crypto";

/** Sentences for people; what is wrong in detail is in the log under the request's id. */
const sentences: Readonly<Record<number, string>> = {
  401: "The sign-in could not be completed. It may have taken too long, or been begun in another window.",
  429: "There were too many failed attempts to sign in. Wait a minute, then try again.",
  503: "The sign-in provider cannot be reached, or this server cannot work at the moment. Those who are signed in stay so. Try again later.",
};
const otherwise = "The sign-in failed.";

/** The look of the sign-in page, in the few rules that one box takes. */
const style = `:root{color-scheme:light dark;--ground:light-dark(#f7f7f5,#0f1113);--surface:light-dark(#fff,#16191c);--line:light-dark(#e5e4e0,#262b30);--ink:light-dark(#191b1f,#eceef0);--ink-2:light-dark(#4d525a,#b3bac2);--fill:light-dark(#1d3fb4,#3d63e0)}
:root[data-theme=light]{color-scheme:light}
:root[data-theme=dark]{color-scheme:dark}
*{box-sizing:border-box;margin:0}
body{display:grid;place-items:center;min-height:100dvh;padding:24px 16px;background:radial-gradient(1200px 480px at 50% -10%,light-dark(#e4eaff,#16213f),transparent 70%),var(--ground);color:var(--ink);font:16px/1.5 "Inter Variable",system-ui,sans-serif}
main{display:grid;gap:18px;width:min(100%,400px);padding:28px;border:1px solid var(--line);border-radius:14px;background:var(--surface);box-shadow:0 12px 32px light-dark(#191b1f14,#0006)}
.brand{display:flex;align-items:center;gap:10px;font-size:20px;font-weight:660;letter-spacing:-.02em}
svg{width:30px;height:30px}
h1{font-size:24px;font-weight:620;line-height:1.25;letter-spacing:-.018em}
p{color:var(--ink-2);font-size:14px}
a{display:block;padding:9px 14px;border-radius:8px;background:var(--fill);color:#fff;font-size:14px;font-weight:560;text-align:center;text-decoration:none}
a:focus-visible{outline:2px solid var(--ink);outline-offset:2px}
code{display:block;font-family:ui-monospace,monospace;font-size:13px;overflow-wrap:anywhere}`;

const icon = `<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#1d3fb4"/><path d="M6 10.5 10 22l6-9.5L22 22l4-11.5" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/><circle cx="16" cy="12.2" r="2.1" fill="#7fd6a8"/></svg>`;

/** Lets the page have its own style and nothing else (W3C Content Security Policy level 3). */
export const failurePolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

/** What the page tells. */
interface Failed {
  status: number;
  requestId: string;
  signInAddress: string;
  /** What the browser was told to use; undefined for that of its system. */
  theme: string | undefined;
}

/** Makes the page that tells of a failed sign-in. It has nothing in it that the provider or the browser sent. */
export function failurePage({ status, requestId, signInAddress, theme }: Failed): string {
  const chosen = theme === undefined ? "" : ` data-theme="${theme}"`;
  return `<!doctype html>
<html lang="en"${chosen}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Sign in · Waybill</title><style>${style}</style></head>
<body><main><div class="brand">${icon}Waybill</div><h1>You are not signed in</h1><p>${sentences[status] ?? otherwise}</p>
<a href="${signInAddress}">Back to the sign-in page</a><p>Request <code>${requestId}</code></p></main></body></html>
`;
}
