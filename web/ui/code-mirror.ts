import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, indentUnit, syntaxTree } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Range } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";

/** A mistake at a line and a column from 1. */
export interface CodeProblem {
  line: number;
  column: number;
  message: string;
}

/** An editor that stands in a page. */
export interface MountedEditor {
  /** Replaces the text, unless it is this one. */
  setText(text: string): void;
  setProblems(problems: readonly CodeProblem[]): void;
  goTo(problem: CodeProblem): void;
  destroy(): void;
}

const theme = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--ink)", fontSize: "var(--size-2)", height: "100%" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.65" },
  ".cm-content": { caretColor: "var(--ink)", padding: "10px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--ink-3)", border: "0" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 8px 0 4px", minWidth: "28px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "light-dark(#cfdaff, #2c3f7c)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selected)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    color: "var(--ink)",
  },
  ".cm-diagnostic": { fontFamily: "var(--sans)", padding: "6px 10px", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad-fill)" },
  ".code-key": { color: "var(--accent)" },
  ".code-text": { color: "var(--good)" },
  ".code-comment": { color: "var(--ink-3)", fontStyle: "italic" },
});

const classes: Readonly<Record<string, string>> = {
  Key: "code-key",
  QuotedLiteral: "code-text",
  Comment: "code-comment",
};

function colours(view: EditorView): DecorationSet {
  const marks: Range<Decoration>[] = [];
  for (const { from, to } of view.visibleRanges)
    syntaxTree(view.state).iterate({
      from,
      to,
      enter: (node) => {
        const name = classes[node.name];
        if (name === undefined || node.from === node.to) return undefined;
        marks.push(Decoration.mark({ class: name }).range(node.from, node.to));
        return false;
      },
    });
  return Decoration.set(marks, true);
}

/** Colours keys, texts and comments with the page's own colours. */
const colouring = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = colours(view);
    }
    update(update: ViewUpdate): void {
      const isParsed = syntaxTree(update.startState) !== syntaxTree(update.state);
      if (update.docChanged || update.viewportChanged || isParsed) this.decorations = colours(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function startOf({ doc }: EditorState, { line, column }: CodeProblem): { from: number; to: number } {
  const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
  return { from: Math.min(from + column - 1, to), to };
}

function diagnosticsOf(state: EditorState, problems: readonly CodeProblem[]): Diagnostic[] {
  return problems.map((problem) => ({
    ...startOf(state, problem),
    severity: "error",
    message: problem.message,
  }));
}

interface EditorOptions {
  text: string;
  /** What is written in it, for those who cannot see where it stands. */
  label: string;
  /** Id of what says more about it. */
  describedBy: string;
  /** Without it the page's policy forbids the editor its style. */
  nonce: string;
  onChange: (text: string) => void;
}

/** Puts an editor for YAML into an element. Tab indents; Esc, then Tab leaves it. */
export function mountEditor(parent: HTMLElement, options: EditorOptions): MountedEditor {
  const { text, label, describedBy, nonce, onChange } = options;
  const view = new EditorView({
    parent,
    doc: text,
    extensions: [
      EditorView.cspNonce.of(nonce),
      EditorView.contentAttributes.of({
        "aria-label": label,
        "aria-describedby": describedBy,
        spellcheck: "false",
        // What is scrolled has to be reachable by keyboard, in the eyes of those who check that.
        tabindex: "0",
      }),
      EditorState.tabSize.of(2),
      indentUnit.of("  "),
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      bracketMatching(),
      indentOnInput(),
      yaml(),
      colouring,
      theme,
      keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString());
      }),
    ],
  });
  return {
    setText: (wanted) => {
      const { doc } = view.state;
      if (doc.toString() !== wanted) view.dispatch({ changes: { from: 0, to: doc.length, insert: wanted } });
    },
    setProblems: (problems) => view.dispatch(setDiagnostics(view.state, diagnosticsOf(view.state, problems))),
    goTo: (problem) => {
      view.dispatch({ selection: { anchor: startOf(view.state, problem).from }, scrollIntoView: true });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
