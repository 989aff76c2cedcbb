const isThorough = process.env["WAYBILL_TEST_THOROUGH"] === "1";

/** Chooses how much of something tests do, as rounds, views or seconds: as much as a change can wait for, or more (`npm run test:thorough`). */
export function amount<Amount>(usual: Amount, thorough: Amount): Amount {
  return isThorough ? thorough : usual;
}
