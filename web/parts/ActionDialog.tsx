import { type FormEvent, type ReactNode, useEffect, useRef } from "react";

import { type Action, type Sending, sending } from "../api/action.ts";
import type { InputOf, WriteAddress } from "../api/contract.ts";
import { ApiError } from "../api/errors.ts";
import { Button } from "../ui/Button.tsx";
import { DialogForm, Foot } from "../ui/Dialog.tsx";
import { FilledDialog } from "../ui/FilledDialog.tsx";
import { useFilledIn } from "../ui/useFilledIn.ts";
import { LeaveGuard } from "./LeaveGuard.tsx";
import { Refused } from "./Refused.tsx";
import { Sent } from "./Sent.tsx";

/** What a dialog has to know of the action it asks for. */
interface Asked {
  isPending: boolean;
  error: Error | null;
}

interface DialogProps {
  title: string;
  /** What the button says that does it. */
  submit: string;
  /** What is destroyed or taken away is asked for in red. */
  isDanger?: boolean;
  isWide?: boolean;
  /** Why it cannot be sent yet. */
  refused?: string | undefined;
  onClose: () => void;
  /** What will happen, and the fields it depends on. */
  children: ReactNode;
}

interface SendDialogProps extends DialogProps {
  action: Asked;
  /** The requests that will be sent, as far as is known by now. */
  sends: readonly Sending[];
  onSubmit: () => void;
}

/** Asks for what several requests need, as `ActionDialog` does for one. */
export function SendDialog({
  title,
  submit,
  action,
  sends,
  isDanger,
  isWide,
  refused,
  onSubmit,
  onClose,
  children,
}: SendDialogProps) {
  const filled = useFilledIn();
  const isSent = useRef(false);
  useEffect(() => {
    if (action.error !== null) isSent.current = false;
  }, [action.error]);
  // What is sent is not lost: what follows from it may lead elsewhere.
  const isFilledIn = (): boolean => !isSent.current && filled.isFilledIn();
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (refused !== undefined) return;
    isSent.current = true;
    onSubmit();
  };
  // What is under way may be refused yet, or answer what is shown once: who closed it would never know.
  const underWay = action.isPending ? "Under way" : undefined;
  const close = (): void => {
    if (!action.isPending) onClose();
  };
  return (
    <>
      <FilledDialog title={title} onClose={close} isWide={isWide === true} filled={{ ...filled, isFilledIn }}>
        <DialogForm onSubmit={send}>
          {children}
          {action.error === null ? null : <Refused error={action.error} />}
          <Sent sends={sends} />
          <Foot>
            <Button refused={underWay} onClick={close}>
              Cancel
            </Button>
            <Button
              type="submit"
              look={isDanger === true ? "destroy" : "primary"}
              refused={underWay ?? refused}
            >
              {submit}
            </Button>
          </Foot>
        </DialogForm>
      </FilledDialog>
      <LeaveGuard isChanged={isFilledIn} also="any" />
    </>
  );
}

interface ActionDialogProps<A extends WriteAddress> extends DialogProps {
  action: Action<A>;
  /** What will be sent. */
  input: InputOf<A>;
}

/**
 * Asks for what an action needs, or whether it is meant; says why it was refused, and stays open then. It shows what will be sent,
 * for who wants a program to do it.
 */
export function ActionDialog<A extends WriteAddress>({ action, input, ...rest }: ActionDialogProps<A>) {
  return (
    <SendDialog
      {...rest}
      action={action}
      sends={[sending(action.operation, input)]}
      onSubmit={() => action.mutate(input)}
    />
  );
}

/** Finds what the server says of one field of what was sent; its name may have the body's as a prefix. */
export function wrongField(error: Error | null, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return Object.entries(error.errors).find(([name]) => name === field || name.endsWith(`.${field}`))?.[1];
}
