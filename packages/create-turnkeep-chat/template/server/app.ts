import "./env.ts"; // first: the others read what it sets
import { Hono } from "hono";
import { handler } from "./chat.ts";
import { contextOf } from "./context.ts";
import { beginSession, ownerOf } from "./session.ts";

/** The API. Pages and scripts come from Vite, or from what it built. */
export const app = new Hono();

app.post("/api/session", beginSession);
app.all("/api/chat/*", ({ req }) => handler(req.raw));
app.get("/api/context/:id", async ({ req, json }) => {
  const owner = ownerOf(req.raw);
  const context = owner === undefined ? undefined : await contextOf(req.param("id"), owner);
  return context === undefined ? json({ error: "No such chat." }, 404) : json(context);
});
