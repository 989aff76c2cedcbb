import { z } from "zod";

/** A role. Strongest first, as error texts name them. */
export const RoleName = z.enum(["admin", "member", "snapshotter", "reader"]);
