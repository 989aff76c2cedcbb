import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { BelowLoaded, Loaded } from "../../parts/Loaded.tsx";
import { ProvenancePicture } from "../../parts/ProvenancePicture.tsx";
import { Card } from "../../ui/Layout.tsx";
import { provenanceQuery } from "./queries.ts";
import { PictureRoom } from "./PictureRoom.tsx";

interface ProvenanceProps {
  org: string;
  fingerprint: string;
  /** Stands below it. */
  children: ReactNode;
}

/** Shows where an artifact comes from and where it runs, as a picture whose height nobody knows before it is there. */
export function Provenance({ org, fingerprint, children }: ProvenanceProps) {
  const query = useQuery(provenanceQuery(org, fingerprint));
  return (
    <>
      <Card title="Provenance">
        <Loaded query={query} waiting={<PictureRoom />}>
          {(picture) => <ProvenancePicture picture={picture} />}
        </Loaded>
      </Card>
      <BelowLoaded above={[query]}>{children}</BelowLoaded>
    </>
  );
}
