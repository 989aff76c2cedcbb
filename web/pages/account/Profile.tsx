import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";

import { accountQuery } from "../../api/account.ts";
import { Loaded } from "../../parts/Loaded.tsx";
import { KeySwitch } from "../../shell/KeySwitch.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { Card, Facts, Quiet } from "../../ui/Layout.tsx";
import { AccountFrame } from "./AccountFrame.tsx";
import { OwnKeys } from "./OwnKeys.tsx";
import { Sessions } from "./Sessions.tsx";
import { SignInMethods } from "./SignInMethods.tsx";

/** Who one is: name, keys, sessions. */
export function Profile() {
  const query = useQuery(accountQuery);
  return (
    <AccountFrame>
      <PageHead title="Profile" />
      <Loaded query={query}>
        {(account) =>
          account === null ? (
            <Navigate to="/-/sign-in" search={{ next: "/-/profile" }} replace />
          ) : (
            <>
              <Card title="You">
                <Facts
                  facts={[
                    ["Name", account.name],
                    ["Display name", account.display_name],
                    ["E-mail", account.email],
                    ["Kind", account.kind === "user" ? "User" : "Service account"],
                    ["Installation", account.is_instance_admin ? "You administer it" : undefined],
                    ["Default organization", account.default_org_name],
                  ]}
                />
              </Card>
              <Card title="Keyboard">
                <KeySwitch />
                <p>
                  <Quiet isSmall>On pages of an organization, ? lists all keys.</Quiet>
                </p>
              </Card>
              <Sessions />
              {account.kind === "user" ? <SignInMethods /> : null}
              {account.kind === "user" ? <OwnKeys /> : null}
            </>
          )
        }
      </Loaded>
    </AccountFrame>
  );
}
