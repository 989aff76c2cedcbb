import { loadPart } from "./parts.ts";
import { pdfText } from "./pdf-text.ts";

/** What a verdict means to the reader; decides its color. */
export type PdfTone = "good" | "bad" | "open";

/** A titled item of a document, with its lines. */
export interface PdfEntry {
  title: string;
  /** Shown after the title, in the tone's color. */
  verdict?: { text: string; tone: PdfTone };
  lines: readonly string[];
}

const colors: Record<PdfTone, string> = { good: "#17692f", bad: "#b3261e", open: "#8a5a00" };
const ink = "#1a1a1a";
const faded = "#5f6368";
const margin = 48;
const labelWidth = 96;

interface Style {
  font: "Helvetica" | "Helvetica-Bold";
  size: number;
  color: string;
}

const plain: Style = { font: "Helvetica", size: 9, color: ink };
const bold: Style = { font: "Helvetica-Bold", size: 9, color: ink };
const label: Style = { font: "Helvetica", size: 9, color: faded };
const small: Style = { font: "Helvetica", size: 7.5, color: faded };

/** Makes an empty document. Loads the library when the first one is made. */
async function newPaper(title: string, made_at: Date): Promise<PDFKit.PDFDocument> {
  const Document = await loadPart("pdf", async () => (await import("pdfkit")).default);
  const info = { Title: pdfText(title), Creator: "Waybill", Producer: "Waybill", CreationDate: made_at };
  return new Document({
    size: "A4",
    margin,
    autoFirstPage: false,
    pdfVersion: "1.7",
    lang: "en",
    displayTitle: true,
    info,
  });
}

/** A document for people, written from top to bottom. Takes any text: see `pdfText`. Made by `createPdf`. */
export class PdfPaper {
  readonly #paper: PDFKit.PDFDocument;
  #style = plain;

  constructor(paper: PDFKit.PDFDocument, title: string) {
    this.#paper = paper;
    let pages = 0;
    paper.on("pageAdded", () => {
      pages += 1;
      this.#addFooter(`Page ${pages}   ${pdfText(title).slice(0, 90)}`);
    });
    paper.addPage();
    this.#write({ ...bold, size: 16 }, title);
  }

  heading(text: string): void {
    this.#makeRoom(72);
    this.#paper.moveDown(1);
    this.#write({ ...bold, size: 12 }, text);
    this.#paper.moveDown(0.4);
  }

  /** Writes labelled values, a line each. */
  facts(facts: readonly (readonly [label: string, value: string])[]): void {
    this.#paper.moveDown(0.4);
    for (const [name, value] of facts) {
      this.#makeRoom(14);
      const { y } = this.#paper;
      this.#write(label, name);
      this.#paper.y = y;
      this.#write(plain, value, labelWidth);
    }
  }

  entry({ title, verdict, lines }: PdfEntry): void {
    this.#makeRoom(40);
    this.#use(bold);
    this.#paper.text(pdfText(title), margin, this.#paper.y, { continued: verdict !== undefined });
    if (verdict !== undefined) {
      this.#use({ ...bold, color: colors[verdict.tone] });
      this.#paper.text(`   ${pdfText(verdict.text)}`);
    }
    for (const text of lines) this.#write(plain, text, 12);
    this.#paper.moveDown(0.4);
  }

  line(text: string): void {
    this.#separate(plain, text);
  }

  /** Writes a line about the document itself. */
  note(text: string): void {
    this.#separate(label, text);
  }

  /** Takes the bytes of the pages that are full by now; empty when there are none. */
  take(): Uint8Array {
    return (this.#paper.read() as Uint8Array | null) ?? new Uint8Array();
  }

  /** Ends the document and gives its last bytes. */
  end(): AsyncIterable<Uint8Array> {
    this.#paper.end();
    return this.#paper;
  }

  #use(style: Style): void {
    this.#style = style;
    this.#apply(style);
  }

  #apply({ font, size, color }: Style): void {
    this.#paper.font(font).fontSize(size).fillColor(color);
  }

  /** Begins another page unless there is room for this many points. */
  #makeRoom(height: number): void {
    if (this.#paper.y + height > this.#paper.page.maxY()) this.#paper.addPage();
  }

  #write(style: Style, text: string, indent = 0): void {
    this.#use(style);
    this.#paper.text(pdfText(text), margin + indent, this.#paper.y);
  }

  /** Writes a line, with some space below. */
  #separate(style: Style, text: string): void {
    this.#makeRoom(14);
    this.#write(style, text);
    this.#paper.moveDown(0.2);
  }

  /** Writes the foot of a new page, and then goes on above as before. */
  #addFooter(text: string): void {
    const paper = this.#paper;
    const { x, y, page } = paper;
    const { bottom } = page.margins;
    // Below the margin a text would begin another page.
    page.margins.bottom = 0;
    this.#apply(small);
    paper.text(text, margin, page.height - margin + 14, { lineBreak: false });
    page.margins.bottom = bottom;
    paper.x = x;
    paper.y = y;
    this.#apply(this.#style);
  }
}

/**
 * Begins a document of A4 pages.
 * @param title stands on top, and at the foot of each page.
 */
export async function createPdf(title: string, made_at: Date): Promise<PdfPaper> {
  return new PdfPaper(await newPaper(title, made_at), title);
}
