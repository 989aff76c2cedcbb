import { expect } from "vitest";

import type { TestApp } from "./app.ts";
import type { Answer, RequestOptions } from "./client.ts";

/** What a browser sends with requests of the server's own pages. */
export const fromSite = { "sec-fetch-site": "same-origin" };

/** A person at a browser, with the cookie of a session. */
export interface TestBrowser {
  /** `name=value`. */
  cookie: string;
  /** The answer that began the session. */
  answer: Answer;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  get(path: string): Promise<Answer>;
  delete(path: string): Promise<Answer>;
}

/** Gives the cookie that an answer sets. */
function cookieOf(answer: Answer): string {
  return String(answer.headers["set-cookie"]).split(";", 1)[0]!;
}

/** Makes a browser of the answer that began its session. */
export function browserOf(app: TestApp, answer: Answer): TestBrowser {
  expect(answer.status, answer.text).toBe(201);
  const cookie = cookieOf(answer);
  const request = (method: string, path: string, options: RequestOptions = {}): Promise<Answer> =>
    app.anonymous.request(method, path, { ...options, headers: { ...fromSite, cookie, ...options.headers } });
  return {
    cookie,
    answer,
    request,
    get: (path) => request("GET", path),
    delete: (path) => request("DELETE", path),
  };
}

/** Sends what somebody signs in with, from a page of the server. */
export function trySignIn(
  app: TestApp,
  json: { api_key: string } | { token: string },
  headers: Record<string, string> = {},
): Promise<Answer> {
  return app.anonymous.request("POST", "/user/sessions", { json, headers: { ...fromSite, ...headers } });
}

/** Signs in with a key. */
export async function signIn(app: TestApp, key: string): Promise<TestBrowser> {
  return browserOf(app, await trySignIn(app, { api_key: key }));
}
