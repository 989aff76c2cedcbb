import { Link } from "@tanstack/react-router";

import { Quiet } from "../ui/Layout.tsx";
import { Short } from "./Short.tsx";

/** Links to a flow. */
export function FlowLink({ org, flow }: { org: string; flow: string | null | undefined }) {
  if (flow === null || flow === undefined || flow === "") return <Quiet>none known</Quiet>;
  return (
    <Link to="/$org/flows/$flow" params={{ org, flow }}>
      {flow}
    </Link>
  );
}

/** Links to a trail, whose name is shortened if it is a commit's. */
export function TrailLink({ org, flow, trail }: { org: string; flow: string; trail: string }) {
  if (flow === "" || trail === "") return <Quiet>none known</Quiet>;
  return (
    <Link to="/$org/flows/$flow/trails/$trail" params={{ org, flow, trail }}>
      <Short text={trail} />
    </Link>
  );
}

interface ArtifactLinkProps {
  org: string;
  /** Empty when no flow knows it. */
  flow: string;
  fingerprint: string;
  name: string;
}

/** Links to an artifact as a flow knows it, by its latest report there. */
export function ArtifactLink({ org, flow, fingerprint, name }: ArtifactLinkProps) {
  if (flow === "")
    return (
      <Link to="/$org/artifacts/$fingerprint" params={{ org, fingerprint }}>
        {name}
      </Link>
    );
  return (
    <Link to="/$org/flows/$flow/artifacts/$fingerprint" params={{ org, flow, fingerprint }}>
      {name}
    </Link>
  );
}

/** Links to what is known of a commit. */
export function CommitLink({ org, sha }: { org: string; sha: string | null | undefined }) {
  if (sha === null || sha === undefined || sha === "") return <Quiet>unknown</Quiet>;
  return (
    <Link to="/$org/commits/$sha" params={{ org, sha }}>
      <code>
        <Short text={sha} />
      </code>
    </Link>
  );
}
