import { type ReactNode, useRef, useState } from "react";

import type { WriteAddress } from "../api/contract.ts";
import { roleUnknown } from "../domain/roles.ts";
import { Button, buttonClass } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Quiet, Row, Stack } from "../ui/Layout.tsx";
import { Note } from "../ui/Note.tsx";
import { wrongField } from "./ActionDialog.tsx";
import { WriteForm, type WriteFormProps } from "./WriteForm.tsx";

interface NewLinkProps {
  /** Why the caller may not make one. */
  refused: string | undefined;
  words: string;
  /** Renders the link to the page that makes one. */
  children: (looks: { className: string; children: ReactNode }) => ReactNode;
}

/** Leads to the page that makes something, for those who may; others are told why not. */
export function NewLink({ refused, words, children }: NewLinkProps) {
  if (refused !== undefined)
    return (
      <Button icon="plus" refused={refused}>
        {words}
      </Button>
    );
  return children({
    className: buttonClass("primary"),
    children: (
      <>
        <Icon name="plus" />
        {words}
      </>
    ),
  });
}

/** Stands above the command that makes something, with the link to the page that does it as well. */
export function OrByCommand({ children }: { children: ReactNode }) {
  return (
    <Row>
      {children}
      <Quiet>or by command:</Quiet>
    </Row>
  );
}

/** What is written of something that is not there yet. */
export interface NewDraft<Draft> {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  /** Whether something was written that is not sent and not given up. */
  isChanged: () => boolean;
  /** Has it be lost without a question: it was made, or given up. */
  end: () => void;
}

/** Holds what is written of something that is not there yet. @param start what stands in the fields at first. */
export function useNewDraft<Draft extends object>(start: Draft): NewDraft<Draft> {
  const [draft, write] = useState(start);
  const isEnded = useRef(false);
  return {
    draft,
    change: (part) => write({ ...draft, ...part }),
    isChanged: () => !isEnded.current && JSON.stringify(draft) !== JSON.stringify(start),
    end: () => {
      isEnded.current = true;
    },
  };
}

interface NewFormProps<A extends WriteAddress> extends Omit<WriteFormProps<A>, "isPrimary" | "isChanged"> {
  written: Pick<NewDraft<object>, "isChanged" | "end">;
  /** Why the caller may not make one, which is said above it, too. */
  mayNot: string | undefined;
  /** Leads away from it. */
  onCancel: () => void;
}

/** The form of a page that makes something. */
export function NewForm<A extends WriteAddress>({
  written: { isChanged, end },
  mayNot,
  refused,
  onCancel,
  ...rest
}: NewFormProps<A>) {
  const cancel = (): void => {
    end();
    onCancel();
  };
  return (
    <Stack>
      {mayNot === undefined || mayNot === roleUnknown ? null : <Note kind="warn">{mayNot}.</Note>}
      <WriteForm {...rest} isPrimary refused={mayNot ?? refused} isChanged={isChanged} onCancel={cancel} />
    </Stack>
  );
}

interface DescriptionFieldProps {
  text: string;
  onChange: (text: string) => void;
  error: Error | null;
  hint?: string;
}

/** Asks what something is for. */
export function DescriptionField({ text, onChange, error, hint }: DescriptionFieldProps) {
  return (
    <Field label="Description" hint={hint} wrong={wrongField(error, "description")}>
      {(tie) => <textarea {...tie} value={text} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}
