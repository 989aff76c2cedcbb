import {
  type AskedAttestation,
  type AskedPlace,
  askedSince,
  countAsked,
} from "../../domain/template-asks.ts";
import { Card, Quiet } from "../../ui/Layout.tsx";
import styles from "./Flows.module.css";
import type { Template } from "./template.ts";

const changeWords = { same: "", new: "new", gone: "no longer", changed: "other type" } as const;
const typeWords = (type: string): string => (type === "*" ? "any type" : type);

function Change({ change }: Pick<AskedPlace, "change">) {
  return change === "same" ? null : (
    <span className={styles["change"]} data-change={change}>
      {changeWords[change]}
    </span>
  );
}

function Asked({ attestation: { name, type, was, change } }: { attestation: AskedAttestation }) {
  return (
    <li data-change={change}>
      <span>{name}</span>
      <small>{was === undefined ? typeWords(type) : `${typeWords(was)} → ${typeWords(type)}`}</small>
      <Change change={change} />
    </li>
  );
}

function Place({ place: { artifact, change, attestations } }: { place: AskedPlace }) {
  return (
    <li>
      <h3>
        {artifact === null ? "The trail" : `Artifact ${artifact}`}
        <Change change={change} />
      </h3>
      {attestations.length === 0 ? (
        <Quiet isSmall>It has to be there; no evidence is asked for.</Quiet>
      ) : (
        <ul>
          {attestations.map((attestation) => (
            <Asked key={attestation.name} attestation={attestation} />
          ))}
        </ul>
      )}
    </li>
  );
}

function countWords(template: Template): string {
  const { attestations, artifacts } = countAsked(template);
  if (attestations + artifacts === 0) return "nothing";
  const some = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
  return `${some(artifacts, "artifact")}, ${some(attestations, "attestation")}`;
}

interface PreviewProps {
  /** Undefined while the text is no template, and until it was read. */
  template: Template | undefined;
  kept: Template | undefined;
  isOld: boolean;
}

/** What the trails of the flow would be asked for, against what they are asked for now. */
export function TemplatePreview({ template, kept, isOld }: PreviewProps) {
  if (template === undefined)
    return (
      <Card title="What trails would need">
        <Quiet>It is shown as soon as the text is without mistakes.</Quiet>
      </Card>
    );
  const places = askedSince(kept ?? template, template);
  return (
    <Card title="What trails would need" aside={<Quiet isSmall>{countWords(template)}</Quiet>}>
      <div className={styles["asked"]} data-old={isOld} aria-live="polite">
        {places.length === 0 ? (
          <p>Nothing. Trails comply as long as nothing that is reported fails.</p>
        ) : (
          <ul>
            {places.map((place) => (
              <Place key={JSON.stringify([place.artifact, place.change])} place={place} />
            ))}
          </ul>
        )}
      </div>
    </Card>
  );
}
