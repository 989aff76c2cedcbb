import "./styles/font.css";
import "./styles/tokens.css";
import "./styles/base.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { createQueryClient } from "./api/queries.ts";
import { App } from "./shell/App.tsx";
import { noticeMissingParts } from "./shell/outdated.ts";
import { createAppRouter } from "./routes.tsx";

noticeMissingParts();
const queries = createQueryClient();
const router = createAppRouter(queries);
const place = document.querySelector("#app");
// The first page is drawn once its code is there: React holds back for 300 ms what takes the place of a page that still waits for it.
if (place !== null)
  void router.load().then(() =>
    createRoot(place).render(
      <StrictMode>
        <App queries={queries} router={router} />
      </StrictMode>,
    ),
  );
