import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { vcsInstanceOf } from "./repos.ts";

describe("vcsInstanceOf", () => {
  it.each([
    ["https://github.com/acme/web", "github.com"],
    ["https://GitHub.com/acme/web", "github.com"],
    ["https://user:secret@git.acme.io:8443/acme/web.git", "git.acme.io:8443"],
    ["ssh://git@git.acme.io/acme/web.git", "git.acme.io"],
    ["git@github.com:acme/web.git", "github.com"],
    ["git.acme.io:acme/web.git", "git.acme.io"],
    ["svn+ssh://svn.acme.io/web", "svn.acme.io"],
    ["file:///srv/git/web", null],
    ["acme/web", null],
    ["", null],
    ["https://", null],
  ])("%s -> %s", (url, host) => {
    expect(vcsInstanceOf(url)).toBe(host);
  });

  it("reads anything without failing, and finds the host of every web address", () => {
    fc.assert(fc.property(fc.string(), (text) => void vcsInstanceOf(text)));
    fc.assert(
      fc.property(fc.webUrl(), (url) => {
        expect(vcsInstanceOf(url)).toBe(new URL(url).host);
      }),
    );
  });
});
