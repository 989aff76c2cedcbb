import type { AssertArtifact } from "../../../contract/asserts.ts";
import { idCount, idsIn } from "../../../db/id-list.ts";
import type { KeptVerdict } from "../../../domain/compliance/model.ts";
import type { ArtifactState, KnownFlow } from "../../../domain/policy/evaluation/model.ts";
import type { WantedAttestations } from "../../../domain/policy/evaluation/rules.ts";
import type { Org } from "../../../domain/principal.ts";
import { knownFlow } from "../../../domain/snapshot/provenance.ts";
import { present } from "../../../lib/present.ts";
import { textPieces } from "../../../lib/text.ts";
import { widePieces } from "../../../lib/wide-json.ts";
import { zip } from "../../../lib/zip.ts";
import type { Deps } from "../../kernel/deps.ts";
import { withStates } from "../../process/compliance/service.ts";
import {
  findKnownIds,
  listJudgedFlows,
  listKnownStates,
  listShownFlows,
  type ShownFlowRow,
} from "./many-store.ts";
import { showFlow } from "./show.ts";
import type { AssertSubject } from "./store.ts";

type Reading = Pick<Deps, "db" | "links">;

/** Flows that are asked for at once. */
const atOnce = 200;

/** Flows that are judged at once: of artifacts that lost their names that takes all that was attested on their trails. */
const judgedAtOnce = 5;

/** An answer without what it has of the flows. */
type AnswerOfMany = Omit<AssertArtifact, "flow" | "trail" | "compliance_status" | "html_url" | "flows">;

/** A flow as it is shown, with its attestations' statuses as text. */
type Shown = Pick<ShownFlowRow, "statuses"> & {
  flow: ShownFlowRow["flow"] & { compliance_state: ArtifactState };
};

const noStatuses = '"attestations_statuses":[]';

/** Puts statuses into a text of JSON, where it has an empty list of them. */
function* withStatuses(text: string, statuses: string): Generator<string> {
  const at = text.indexOf(noStatuses) + noStatuses.length - 1;
  yield text.slice(0, at);
  yield* textPieces(statuses);
  yield text.slice(at);
}

/** The flows that know an artifact, where they are many or say much: nothing of them is kept but the ids of the reports. */
export class ManyFlows {
  readonly #deps: Reading;
  readonly #org: Org;
  readonly #ids: string;

  constructor(deps: Reading, org: Org, ids: string) {
    this.#deps = deps;
    this.#org = org;
    this.#ids = ids;
  }

  /** Finds the flows of a subject. */
  static async find(deps: Reading, org: Org, asked: AssertSubject): Promise<ManyFlows> {
    return new ManyFlows(deps, org, await findKnownIds(deps.db, org.id, asked));
  }

  get count(): number {
    return idCount(this.#ids);
  }

  async #judged<Row extends KeptVerdict & { artifact_id: string }>(rows: readonly Row[]) {
    const judged = [];
    for (let from = 0; from < rows.length; from += judgedAtOnce)
      judged.push(...(await withStates(this.#deps.db, this.#org.id, rows.slice(from, from + judgedAtOnce))));
    return judged;
  }

  /** Reads something of each flow that is judged, many at a time. */
  async *#inParts<Row extends KeptVerdict & { artifact_id: string }>(
    read: (ids: readonly string[]) => Promise<readonly Row[]>,
  ) {
    for (const ids of idsIn(this.#ids, atOnce))
      yield await this.#judged(await this.#deps.db.sliced(() => read(ids)));
  }

  /** Says whether the artifact complies in all flows. */
  async comply(): Promise<boolean> {
    const { db } = this.#deps;
    for await (const judged of this.#inParts((ids) => listKnownStates(db, this.#org.id, ids)))
      if (judged.some(({ compliance_state }) => compliance_state !== "COMPLIANT")) return false;
    return true;
  }

  /** Reads what policies judge by, with the name of the first report. */
  async known(wanted: WantedAttestations): Promise<{ name: string; flows: KnownFlow[] }> {
    const { db } = this.#deps;
    let name = "";
    const flows: KnownFlow[] = [];
    for await (const judged of this.#inParts((ids) => listJudgedFlows(db, this.#org.id, ids, wanted))) {
      if (flows.length === 0) name = judged[0]?.filename ?? "";
      for (const fact of judged) flows.push(knownFlow(fact));
    }
    return { name, flows };
  }

  /** Reads the flows as they are shown, some at a time. */
  async *shown(): AsyncGenerator<Shown[]> {
    for (const ids of idsIn(this.#ids, atOnce))
      for (let after = 0; after < ids.length;) {
        const from = after;
        const rows = await this.#deps.db.sliced(() => listShownFlows(this.#deps.db, this.#org.id, ids, from));
        after = rows.at(-1)?.place ?? ids.length;
        const judged = await this.#judged(rows.map(({ flow }) => flow));
        yield zip(rows, judged).map(([{ statuses }, flow]) => ({ statuses, flow }));
      }
  }

  /** Reads the flow that knew the artifact first. */
  async first(): Promise<Shown> {
    const { value } = await this.shown().next();
    const [flow] = (value ?? []) as readonly Shown[];
    return present(flow, "flows were found");
  }

  #show({ flow: { unexpected, artifact_row: kept, ...flow } }: Shown) {
    const artifact_row = kept && { ...kept, attestations_statuses: [], unexpected };
    return showFlow(this.#deps, this.#org, { ...flow, trail_rows: null, artifact_row });
  }

  async *#flowPieces(): AsyncGenerator<string> {
    let before = "";
    for await (const some of this.shown())
      for (const flow of some) {
        yield before;
        yield* withStatuses(JSON.stringify(this.#show(flow)), flow.statuses);
        before = ",";
      }
  }

  /**
   * Writes an answer, with its flows while they are read.
   * @param first the flow that knew the artifact first.
   */
  async *write({ fingerprint, compliant, ...rest }: AnswerOfMany, first: Shown): AsyncGenerator<string> {
    const { flow, trail, compliance_status, html_url } = this.#show(first);
    const head = { fingerprint, flow, trail, compliant, compliance_status, html_url };
    yield* withStatuses(JSON.stringify(head).slice(0, -1), first.statuses);
    yield ',"flows":[';
    yield* this.#flowPieces();
    yield "]";
    let before = ",";
    for (const piece of widePieces(rest)) {
      yield before + (before === "" ? piece : piece.slice("{".length));
      before = "";
    }
  }
}
