// npm install hono. On Bun, Deno and Workers: export default app.
import { Hono } from "hono";
import { handler } from "./chat.ts";

export const app = new Hono();
app.all("/api/chat/*", ({ req }) => handler(req.raw));
