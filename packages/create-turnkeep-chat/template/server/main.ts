import { serve } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { app } from "./app.ts";
import { memories } from "./chat.ts";
import { store } from "./store.ts";

// What `npm run build` made.
app.use("*", serveStatic({ root: "dist" }));

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, ({ port }) => {
  console.log(`http://localhost:${port}`);
});

// A new release takes over: the answers that a page waits for end first.
process.once("SIGTERM", () => {
  server.close(async () => {
    await memories.close();
    await store.close();
  });
});
