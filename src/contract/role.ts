import { z } from "zod";

/** A role, strongest first: the order in which error texts name them. */
export const RoleName = z.enum(["admin", "member", "snapshotter", "reader"]);
