import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { Loaded } from "../../parts/Loaded.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { QualityDeliveries } from "./QualityDeliveries.tsx";
import { QualitySettings } from "./QualitySettings.tsx";
import { integrationsQuery } from "./queries.ts";
import styles from "./Integrations.module.css";

const route = getRouteApi("/$org/integrations");

/** What reports to us by itself: the code-quality webhook. */
export function Integrations() {
  const { org } = route.useParams();
  const query = useQuery(integrationsQuery(org));
  return (
    <>
      <PageHead title="Integrations" />
      <Loaded query={query}>
        {(integrations) => (
          <div className={styles["sections"]}>
            {integrations.map((integration) => (
              <QualitySettings key={integration.name} org={org} integration={integration} />
            ))}
            <QualityDeliveries />
          </div>
        )}
      </Loaded>
    </>
  );
}
