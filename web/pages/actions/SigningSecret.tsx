import { useMutation } from "@tanstack/react-query";

import { useAction } from "../../api/action.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../ui/Button.tsx";
import { CodeBlock } from "../../ui/Copy.tsx";
import { Dialog, Foot } from "../../ui/Dialog.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { Time } from "../../ui/Time.tsx";

/** Shows the secret that webhooks are signed with when asked to, or puts another in its place. It is forgotten with the dialog. */
export function SigningSecret({ org, onClose }: { org: string; onClose: () => void }) {
  const params = { org };
  const show = useMutation({
    mutationFn: () => call("GET /actions/{org}/signing-secret", { params }),
    gcTime: 0,
  });
  const rotate = useAction("POST /actions/{org}/signing-secret/rotate");
  const known = rotate.data ?? show.data;
  const error = rotate.error ?? show.error;
  return (
    <Dialog title="Signing secret" onClose={onClose}>
      <p>
        Every webhook of this organization carries a signature made with it, by which receivers know that a
        message came from here.
      </p>
      {known === undefined ? null : <CodeBlock text={known.secret} label="signing secret" />}
      {known?.rotated_at === undefined || known.rotated_at === null ? null : (
        <p>
          Replaced <Time at={known.rotated_at} />
          {known.previous_valid_until === null
            ? ""
            : "; messages are signed with the former one, too, until "}
          {known.previous_valid_until === null ? null : <Time at={known.previous_valid_until} exact />}.
        </p>
      )}
      {error === null ? null : <ErrorNote failure={error} />}
      <Foot>
        <Button
          look="danger"
          refused={rotate.isPending ? "Under way" : undefined}
          onClick={() => rotate.mutate({ params })}
        >
          Replace it
        </Button>
        {known === undefined ? (
          <Button
            look="primary"
            refused={show.isPending ? "Under way" : undefined}
            onClick={() => show.mutate()}
          >
            Show it
          </Button>
        ) : (
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        )}
      </Foot>
    </Dialog>
  );
}
