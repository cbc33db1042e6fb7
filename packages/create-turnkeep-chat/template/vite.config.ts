import { getRequestListener } from "@hono/node-server";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** While you develop, Vite's own server has the API too. */
const api: Plugin = {
  name: "api",
  apply: "serve",
  async configureServer({ middlewares }) {
    const { app } = await import("./server/app.ts");
    const listener = getRequestListener(app.fetch);
    middlewares.use((request, response, next) => {
      if (request.url?.startsWith("/api/")) void listener(request, response);
      else next();
    });
  },
};

export default defineConfig({ plugins: [react(), api] });
