/** The company's domain, reserved for examples (RFC 2606): no mail and no request ever reaches anybody. */
export const companyDomain = "harborlight.example";

/** The organization that is made for the company. */
export const company = {
  /** Its name, with a number behind it when that is taken. */
  name: "harborlight",
  display_name: "Harborlight",
  description: "A made-up company that sells lamps",
} as const;

/** The company's code-quality server, and the gate that its analyses have to pass. */
export const quality = { server: `https://quality.${companyDomain}`, gate: "Harborlight way" } as const;
