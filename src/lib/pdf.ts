import { pdfText } from "./pdf-text.ts";

/** How a text is meant. */
export type PdfTone = "good" | "bad" | "open";

/** One thing with what is known of it. */
export interface PdfEntry {
  title: string;
  /** One word on it, in the tone's color. */
  verdict?: { text: string; tone: PdfTone };
  lines: readonly string[];
}

/** A document for reading, written from top to bottom. Any text will do: see `pdfText`. */
export interface PdfPaper {
  heading(text: string): void;
  /** What is known, with what it is called. */
  facts(facts: readonly (readonly [label: string, value: string])[]): void;
  entry(entry: PdfEntry): void;
  line(text: string): void;
  /** A line about the document itself. */
  note(text: string): void;
  /** Bytes of the pages that are full by now; empty when there are none. */
  take(): Uint8Array;
  /** Ends the document and gives its last bytes. */
  end(): AsyncIterable<Uint8Array>;
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

type Paper = PDFKit.PDFDocument;

function useStyle(paper: Paper, { font, size, color }: Style): void {
  paper.font(font).fontSize(size).fillColor(color);
}

function addFooter(paper: Paper, text: string): void {
  const { x, y, page } = paper;
  const { bottom } = page.margins;
  // Below the margin a text would begin another page.
  page.margins.bottom = 0;
  useStyle(paper, small);
  paper.text(text, margin, page.height - margin + 14, { lineBreak: false });
  page.margins.bottom = bottom;
  paper.x = x;
  paper.y = y;
}

/** The library, loaded when the first document is made. */
async function newPaper(title: string, made_at: Date): Promise<Paper> {
  const { default: Document } = await import("pdfkit");
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

/**
 * Begins a document of A4 pages.
 * @param title stands on top, and at the foot of each page.
 */
export async function createPdf(title: string, made_at: Date): Promise<PdfPaper> {
  const paper = await newPaper(title, made_at);
  let style = plain;
  let pages = 0;
  const use = (next: Style): void => {
    style = next;
    useStyle(paper, next);
  };
  const room = (height: number): void => {
    if (paper.y + height > paper.page.maxY()) paper.addPage();
  };
  const line = (next: Style, text: string, indent = 0): void => {
    use(next);
    paper.text(pdfText(text), margin + indent, paper.y);
  };
  paper.on("pageAdded", () => {
    pages += 1;
    addFooter(paper, `Page ${pages}   ${pdfText(title).slice(0, 90)}`);
    useStyle(paper, style);
  });
  paper.addPage();
  line({ ...bold, size: 16 }, title);

  return {
    heading(text) {
      room(72);
      paper.moveDown(1);
      line({ ...bold, size: 12 }, text);
      paper.moveDown(0.4);
    },
    facts(facts) {
      paper.moveDown(0.4);
      for (const [name, value] of facts) {
        room(14);
        const { y } = paper;
        line(label, name);
        paper.y = y;
        line(plain, value, labelWidth);
      }
    },
    entry({ title, verdict, lines }) {
      room(40);
      use(bold);
      paper.text(pdfText(title), margin, paper.y, { continued: verdict !== undefined });
      if (verdict !== undefined) {
        use({ ...bold, color: colors[verdict.tone] });
        paper.text(`   ${pdfText(verdict.text)}`);
      }
      for (const text of lines) line(plain, text, 12);
      paper.moveDown(0.4);
    },
    line(text) {
      room(14);
      line(plain, text);
      paper.moveDown(0.2);
    },
    note(text) {
      room(14);
      line(label, text);
      paper.moveDown(0.2);
    },
    take: () => (paper.read() as Uint8Array | null) ?? new Uint8Array(),
    end() {
      paper.end();
      return paper;
    },
  };
}
