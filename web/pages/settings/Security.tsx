import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import type { AnswerOf } from "../../api/contract.ts";
import { Loaded } from "../../parts/Loaded.tsx";
import { SecurityRules } from "../../parts/SecurityRules.tsx";
import { securityQuery } from "./queries.ts";
import { SettingsHead } from "./SettingsHead.tsx";

const route = getRouteApi("/$org/settings/security");

const words = {
  oldPersonalKey: "An older one is refused here, and works elsewhere.",
  noEndingKey: "No key of this organization does.",
};

/** What an organization asks of keys and of those who call, and which keys end soon. */
export function Security() {
  const { org } = route.useParams();
  const query = useQuery(securityQuery(org));
  const refused = useRefusal(org, "PUT /organizations/{org}/security");
  const [saved, setSaved] = useState<AnswerOf<"PUT /organizations/{org}/security">>();
  const save = useAction("PUT /organizations/{org}/security", setSaved);
  return (
    <>
      <SettingsHead org={org} />
      <Loaded query={query}>
        {(rules) => (
          <SecurityRules
            rules={rules}
            words={words}
            save={save}
            saved={saved}
            reread={() => void query.refetch()}
            inputOf={(body) => ({ params: { org }, body })}
            refused={refused}
          />
        )}
      </Loaded>
    </>
  );
}
