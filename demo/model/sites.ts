import { createHash } from "node:crypto";

import {
  combinedEnvironments,
  type ImageKey,
  imageNames,
  imagesWithoutDigest,
  type SiteData,
  siteData,
  sitePurposes,
  siteRegion,
} from "../data/sites.ts";
import type { Environment } from "./environments.ts";

/** An image that none of the company's flows built. */
interface ForeignImage {
  name: string;
  /** Empty: its digest is not known. */
  fingerprint: string;
}

function imageOf(key: ImageKey): ForeignImage {
  const name = imageNames[key];
  const digest = createHash("sha256").update(`image ${name}`).digest("hex");
  return { name, fingerprint: imagesWithoutDigest.has(key) ? "" : digest };
}

/** Third parties' images, by key. */
export const images: Readonly<Record<ImageKey, ForeignImage>> = {
  sidecar: imageOf("sidecar"),
  exporter: imageOf("exporter"),
  agent: imageOf("agent"),
  cache: imageOf("cache"),
  toolbox: imageOf("toolbox"),
};

/** An environment that reports what runs there. */
export interface Site extends Omit<SiteData, "images" | "lateImages"> {
  /** Third parties' images that run there, and since which round of reports. */
  images: readonly { image: ForeignImage; from: number }[];
}

/** The sites, with the fingerprints of their images. */
export const sites: readonly Site[] = siteData.map(({ images: always, lateImages = [], ...site }) => ({
  ...site,
  images: [
    ...always.map((key) => ({ image: images[key], from: 0 })),
    ...lateImages.map(({ image, from }) => ({ image: images[image], from })),
  ],
}));

/** Makes the environments of the sites, and the two logical ones that combine them by stage. */
export function makeSiteEnvironments(): Environment[] {
  const physical = sites.map(({ name, type, stage, services, space, team }): Environment => {
    const components = [...new Set(services.map((service) => service.component))];
    return {
      name,
      type,
      description: `${components.join(", ")}: ${sitePurposes[stage]}`,
      tags: { team, stage, region: siteRegion, ...(stage === "prod" ? { tier: "1" } : {}) },
      space,
      members: [],
      fate: { kind: "lives" },
    };
  });
  const combined = combinedEnvironments.map(({ stage, name, description }): Environment => ({
    name,
    type: "logical",
    description,
    tags: { stage, view: "combined" },
    space: "operations",
    members: sites.filter((site) => site.stage === stage).map((site) => site.name),
    fate: { kind: "lives" },
  }));
  return [...physical, ...combined];
}
