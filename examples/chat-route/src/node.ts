// npm install @hono/node-server hono
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { handler } from "./chat.ts";

export const server = createServer(getRequestListener(handler));
// server.listen(3000);
