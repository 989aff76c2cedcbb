import { describe, expect, it } from "vitest";

import { type Config, readConfig } from "./config.ts";
import { mistakesOf } from "../test/support/config.ts";

describe("the mail server", () => {
  it.each<[Record<string, string>, Partial<Config>]>([
    [
      { WAYBILL_SMTP_URL: "smtp://mail.example.org", WAYBILL_MAIL_FROM: "waybill@example.org" },
      {
        smtp: {
          host: "mail.example.org",
          port: 587,
          secure: false,
          requireTls: false,
          user: undefined,
          password: undefined,
          from: "waybill@example.org",
        },
      },
    ],
    [
      { WAYBILL_SMTP_URL: "smtps://a%40b:p%25%2f@mail.example.org", WAYBILL_MAIL_FROM: "W <w@example.org>" },
      {
        smtp: {
          host: "mail.example.org",
          port: 465,
          secure: true,
          requireTls: false,
          user: "a@b",
          password: "p%/",
          from: "W <w@example.org>",
        },
      },
    ],
    [
      { WAYBILL_SMTP_URL: "smtp://u:p@mail.example.org:2525", WAYBILL_MAIL_FROM: "w@example.org" },
      { smtp: expect.objectContaining({ port: 2525, requireTls: true }) },
    ],
    [
      { WAYBILL_SMTP_URL: "smtp://u:p@[::1]:25", WAYBILL_MAIL_FROM: "w@example.org" },
      { smtp: expect.objectContaining({ host: "::1", requireTls: false }) },
    ],
  ])("%j", (environment, expected) => {
    expect(readConfig(environment)).toMatchObject(expected);
  });

  it.each([
    [{ WAYBILL_SMTP_URL: "smtp://h" }, "WAYBILL_MAIL_FROM must be set, because WAYBILL_SMTP_URL is"],
    [{ WAYBILL_MAIL_FROM: "a@b" }, "WAYBILL_SMTP_URL must be set, because WAYBILL_MAIL_FROM is"],
    [{ WAYBILL_SMTP_URL: "http://h" }, "WAYBILL_SMTP_URL must be a URL starting with smtp:// or smtps://"],
    [{ WAYBILL_SMTP_URL: "smtp://" }, "WAYBILL_SMTP_URL must name a host"],
    [
      { WAYBILL_SMTP_URL: "smtp://a:50%@h" },
      "WAYBILL_SMTP_URL must have % in user and password written as %25",
    ],
  ])("refuses %j", (environment, mistake) => {
    expect(mistakesOf(environment)).toEqual([mistake]);
  });
});
