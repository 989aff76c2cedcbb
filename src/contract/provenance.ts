import { z } from "zod";

import { complianceStates } from "../domain/compliance/model.ts";
import { fingerprintPattern } from "../domain/names.ts";
import { pictureKinds, pictureLimits } from "../domain/provenance-picture.ts";
import { organizationReader } from "./access.ts";
import { json } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

/** One thing in the picture of an artifact, or several that are folded. */
const PictureNode = z
  .object({
    /** Tells it apart in this picture. */
    id: z.string(),
    kind: z.enum(pictureKinds),
    label: z.string(),
    /** Null where there is none, or it is not known; the worst of what is folded. */
    verdict: z.enum(complianceStates).nullable(),
    html_url: z.string(),
    /** Whether the template asks for it and nobody reported it; of what is folded, whether that is so for any. */
    missing: z.boolean(),
    /** How many are folded into it; left out for a single thing. */
    count: z.int().optional(),
  })
  .meta({ id: "ProvenanceNode" });

/** Where an artifact comes from, what proves it, what is missing, and where it runs. */
const ProvenancePicture = z
  .object({
    /** In the order of ranks: commits, trails, the artifact, attestations, environments. */
    nodes: z.array(PictureNode).max(pictureLimits.nodes),
    /** Ids of nodes. */
    edges: z.array(z.object({ from: z.string(), to: z.string() }).meta({ id: "ProvenanceEdge" })),
    /** Whether anything is folded or left out. */
    truncated: z.boolean(),
  })
  .meta({ id: "ProvenancePicture" });
export type ProvenancePicture = z.output<typeof ProvenancePicture>;

export const provenanceEndpoints = {
  get_provenance: endpoint({
    method: "GET",
    path: "/provenance/{org}/{fingerprint}",
    tag: "Artifacts",
    summary: "Picture of where an artifact comes from, what proves it and where it runs",
    description:
      `At most ${pictureLimits.nodes} nodes: by the newest report in each flow its commit, its trail, the attestations of ` +
      "both, those that the template asks for and nobody reported (`missing`), and the environments that it runs in, logical " +
      `ones left out. More than ${pictureLimits.inOnePlace} of a kind in one place, or fewer where there are many places, ` +
      "are folded into one node with a `count`: what failed or is missing is shown first. Needs the whole fingerprint.",
    access: organizationReader,
    kept: true,
    params: z.object({ fingerprint: z.string().regex(fingerprintPattern) }),
    responses: { 200: json("The picture", ProvenancePicture) },
  }),
} satisfies Endpoints;
