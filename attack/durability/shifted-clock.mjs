// Loaded into a server's process before anything else: its clock is as many milliseconds ahead as the file says that
// WAYBILL_ATTACK_CLOCK names, looked at ten times a second.
import { readFileSync } from "node:fs";

const file = process.env.WAYBILL_ATTACK_CLOCK;
const RealDate = Date;
let shift = 0;

function look() {
  try {
    shift = Number(readFileSync(file, "utf8")) || 0;
  } catch {
    shift = 0;
  }
}

class ShiftedDate extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift);
    else super(...given);
  }

  static now() {
    return RealDate.now() + shift;
  }
}

if (file !== undefined) {
  look();
  setInterval(look, 100).unref();
  globalThis.Date = ShiftedDate;
}
