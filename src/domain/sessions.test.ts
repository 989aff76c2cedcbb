import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { comesFromSite, readCookie, setCookie, siteOf } from "./sessions.ts";

const plain = siteOf("http://waybill.test:8001");

describe("the session's cookie", () => {
  it("is read again from what was set, whatever stands around it", () => {
    const other = fc.stringMatching(/^[a-z]{1,8}=[\w"-]{0,12}$/);
    fc.assert(
      fc.property(
        fc.constantFrom("http://a.test", "https://a.test", "https://a.test/way", "http://a.test/way/"),
        fc.stringMatching(/^[\w-]{43}$/),
        fc.array(other),
        fc.array(other),
        (url, token, before, after) => {
          const site = siteOf(url);
          const [pair = ""] = setCookie(site, token).split(";");
          expect(readCookie(site, [...before, pair, ...after].join("; "))).toBe(token);
        },
      ),
    );
  });

  it("is nothing when it is empty, too long, or another's", () => {
    const { name } = plain.cookie;
    for (const header of ["", name, `${name}=`, `x${name}=1`, `${name}x=1`, `${name}=${"x".repeat(513)}`])
      expect(readCookie(plain, header)).toBeUndefined();
    expect(readCookie(plain, undefined)).toBeUndefined();
  });

  it("takes time in proportion to a hostile header's length", () => {
    const started = performance.now();
    for (let round = 0; round < 100; round += 1) readCookie(plain, `${";".repeat(15_000)}= `);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe("comesFromSite", () => {
  const get = (headers: Record<string, string>): boolean => comesFromSite(plain, { method: "GET", headers });
  const post = (headers: Record<string, string>): boolean =>
    comesFromSite(plain, { method: "POST", headers });
  const own = "http://waybill.test:8001";

  it("believes Sec-Fetch-Site before all else", () => {
    for (const site of ["cross-site", "same-site", "none", "", "same-origin, cross-site"])
      for (const method of [get, post])
        expect(method({ "sec-fetch-site": site, origin: own, referer: `${own}/` })).toBe(false);
    expect(post({ "sec-fetch-site": "same-origin", origin: "https://evil.test" })).toBe(true);
    expect(get({ "sec-fetch-site": "same-origin" })).toBe(true);
  });

  it("lets a typed address read, and no more", () => {
    const typed = { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" };
    expect([get(typed), post(typed)]).toEqual([true, false]);
    expect(comesFromSite(plain, { method: "HEAD", headers: typed })).toBe(true);
    expect(get({ "sec-fetch-site": "none", "sec-fetch-mode": "cors" })).toBe(false);
  });

  it("compares origins whole where there is no Sec-Fetch-Site", () => {
    expect(post({ origin: own })).toBe(true);
    const others = [
      "null",
      "",
      "http://waybill.test",
      "https://waybill.test:8001",
      `${own}.evil.test`,
      `${own}/`,
      `http://evil.test/${own}`,
      `http://x@waybill.test:8001`,
    ];
    for (const origin of others) expect(post({ origin, referer: `${own}/page` }), origin).toBe(false);
  });

  it("takes the page that asks for proof of a read alone", () => {
    const referer = `${own}/acme/environments?x=1`;
    expect([get({ referer }), post({ referer })]).toEqual([true, false]);
    for (const other of ["https://evil.test/", `${own}.evil.test/`, "", "about:blank", "x"])
      expect(get({ referer: other }), other).toBe(false);
    expect([get({}), post({})]).toEqual([false, false]);
  });
});
