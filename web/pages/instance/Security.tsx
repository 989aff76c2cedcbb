import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { useAction } from "../../api/action.ts";
import type { AnswerOf } from "../../api/contract.ts";
import { Loaded } from "../../parts/Loaded.tsx";
import { SecurityRules } from "../../parts/SecurityRules.tsx";
import { InstanceFrame } from "./InstanceFrame.tsx";
import { instanceSecurityQuery } from "./queries.ts";

const words = {
  oldPersonalKey: "An older one is refused everywhere.",
  noEndingKey: "No key does by these rules.",
};

/** What the installation asks of all keys and of all who call, and which keys it ends soon. */
export function Security() {
  const query = useQuery(instanceSecurityQuery);
  const [saved, setSaved] = useState<AnswerOf<"PUT /instance/security">>();
  const save = useAction("PUT /instance/security", setSaved);
  return (
    <InstanceFrame
      about={
        <span>
          These rules hold in every organization, beside its own. Whoever locks everybody out gets back in
          with <code>waybill admin lift-addresses --instance</code>.
        </span>
      }
    >
      <Loaded query={query}>
        {(rules) => (
          <SecurityRules
            rules={rules}
            words={words}
            save={save}
            saved={saved}
            reread={() => void query.refetch()}
            inputOf={(body) => ({ body })}
            refused={undefined}
          />
        )}
      </Loaded>
    </InstanceFrame>
  );
}
