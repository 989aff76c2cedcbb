import { Fragment, useMemo, useRef } from "react";

import type { AnswerOf } from "../api/contract.ts";
import { layOutRanks, type PlacedNode, type RankedLayout } from "../domain/layout.ts";
import {
  pictureWords,
  type ProvenanceKind,
  provenanceKinds,
  rankWords,
  type ShownNode,
  shownNodes,
} from "../domain/provenance.ts";
import { Icon, type IconName } from "../ui/Icon.tsx";
import { Fold, Quiet } from "../ui/Layout.tsx";
import { Table } from "../ui/Table.tsx";
import { useWidth } from "../ui/useWidth.ts";
import { PageLink } from "./PageLink.tsx";
import styles from "./ProvenancePicture.module.css";
import { Short } from "./Short.tsx";
import { VerdictMark } from "./Verdict.tsx";

type Picture = AnswerOf<"GET /provenance/{org}/{fingerprint}">;

const sizes = { nodeWidth: 156, nodeHeight: 48, rowGap: 8, rankGap: 36, laneHeight: 6 };

const icons = {
  commit: "commit",
  trail: "trails",
  artifact: "artifact",
  attestation: "attestations",
  environment: "environments",
} as const satisfies Record<ProvenanceKind, IconName>;

function NodeWords({ node }: { node: ShownNode }) {
  return (
    <>
      <span className={styles["words"]}>
        <Icon name={icons[node.kind]} size={13} />
        <span>{node.words}</span>
      </span>
      {node.verdict === undefined ? null : (
        <span className={styles["verdict"]}>
          <VerdictMark verdict={node.verdict} />
          {node.detail === undefined ? null : <span className={styles["detail"]}>{node.detail}</span>}
        </span>
      )}
    </>
  );
}

function Node({ node, place }: { node: ShownNode; place: PlacedNode }) {
  return (
    <li
      className={styles["node"]}
      data-kind={node.kind}
      data-missing={node.isMissing}
      data-folded={node.count > 1}
      title={node.label}
      style={{ left: place.x, top: place.y, width: place.width, height: place.height }}
    >
      <PageLink address={node.html_url} className={styles["face"]}>
        <NodeWords node={node} />
      </PageLink>
    </li>
  );
}

function Lines({ layout, nodes }: { layout: RankedLayout; nodes: ReadonlyMap<string, ShownNode> }) {
  return (
    <svg width={layout.width} height={layout.height} aria-hidden="true">
      {layout.edges.map(({ from, to, path }) => (
        <path key={`${from} ${to}`} d={path} data-missing={nodes.get(to)?.isMissing} />
      ))}
    </svg>
  );
}

function Drawn({
  shown,
  edges,
  width,
}: {
  shown: readonly ShownNode[];
  edges: Picture["edges"];
  width: number;
}) {
  const nodes = useMemo(() => new Map(shown.map((node) => [node.id, node])), [shown]);
  const layout = useMemo(
    () =>
      layOutRanks(
        shown.map(({ id, kind }) => ({ id, rank: provenanceKinds.indexOf(kind) })),
        edges,
        { ...sizes, width: width - 2 },
      ),
    [shown, edges, width],
  );
  const placed = new Map(layout.nodes.map((place) => [place.id, place]));
  return (
    <>
      <div className={styles["heads"]} style={{ width: layout.width }} aria-hidden="true">
        {layout.ranks.map((left, rank) => (
          <span key={left} style={{ left, width: layout.nodeWidth }}>
            {rankWords[provenanceKinds[rank] ?? "artifact"]}
          </span>
        ))}
      </div>
      <div className={styles["field"]} style={{ width: layout.width, height: layout.height }}>
        <Lines layout={layout} nodes={nodes} />
        {provenanceKinds.map((kind) => (
          <ul key={kind} aria-label={rankWords[kind]}>
            {layout.nodes.flatMap(({ id }) => {
              const [node, place] = [nodes.get(id), placed.get(id)];
              return node?.kind !== kind || place === undefined
                ? []
                : [<Node key={id} node={node} place={place} />];
            })}
          </ul>
        ))}
      </div>
    </>
  );
}

function PictureTable({ shown, edges }: { shown: readonly ShownNode[]; edges: Picture["edges"] }) {
  const labels = new Map(shown.map(({ id, label }) => [id, label]));
  const origins = new Map<string, string[]>();
  for (const { from, to } of edges) origins.set(to, [...(origins.get(to) ?? []), labels.get(from) ?? from]);
  return (
    <Table
      label="The same as a table"
      rows={shown}
      rowKey={({ id }) => id}
      columns={[
        { key: "kind", head: "What", width: "120px", cell: ({ kind }) => rankWords[kind] },
        {
          key: "name",
          head: "Name",
          cell: ({ label, html_url }) => (
            <span className={styles["label"]}>
              <PageLink address={html_url}>{label}</PageLink>
            </span>
          ),
        },
        {
          key: "verdict",
          head: "Verdict",
          width: "150px",
          cell: ({ verdict }) =>
            verdict === undefined ? <Quiet>–</Quiet> : <VerdictMark verdict={verdict} />,
        },
        {
          key: "from",
          head: "Comes from",
          isOptional: true,
          cell: ({ id }) => (
            <Quiet>
              {(origins.get(id) ?? ["–"]).map((label, index) => (
                <Fragment key={label}>
                  {index === 0 ? "" : ", "}
                  <Short text={label} />
                </Fragment>
              ))}
            </Quiet>
          ),
        },
      ]}
    />
  );
}

/**
 * Where an artifact comes from, what proves it, what is missing, and where it runs, rank by rank. What is missing is dashed;
 * what is folded says how many. The table below says the same, and is what prints.
 */
export function ProvenancePicture({ picture }: { picture: Picture }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const shown = useMemo(() => shownNodes(picture.nodes), [picture]);
  return (
    <figure className={styles["picture"]}>
      <div ref={frame} className={styles["frame"]} data-no-print data-scrolls>
        {width === 0 ? null : <Drawn shown={shown} edges={picture.edges} width={width} />}
      </div>
      <figcaption>
        {pictureWords(shown)}
        {picture.truncated ? ". Some are folded: their links lead to all of them" : ""}.
      </figcaption>
      <Fold title="As a table">
        <PictureTable shown={shown} edges={picture.edges} />
      </Fold>
    </figure>
  );
}
