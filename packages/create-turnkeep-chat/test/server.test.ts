import type { ChatMemories } from "@turnkeep/core";
import { type PostgresServer, startPostgres } from "@turnkeep/servers";
import type { UIMessage } from "ai";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";

interface Server {
  readonly app: { request(path: string, init?: RequestInit): Response | Promise<Response> };
  readonly store: { close(): Promise<void> };
  readonly memories: ChatMemories<UIMessage>;
}

let postgres: PostgresServer;
let database: Awaited<ReturnType<PostgresServer["database"]>>;
let server: Server;

/** The template's own server, over Postgres: `node:sqlite` is only in a newer Node than this may be. */
beforeAll(async () => {
  postgres = await startPostgres();
  database = await postgres.database();
  vi.stubEnv("DATABASE_URL", database.url);
  vi.stubEnv("AI_GATEWAY_API_KEY", "");
  vi.stubEnv("MOCK_WORD_MS", "0");
  const load = (name: string) => import(new URL(`../template/server/${name}.ts`, import.meta.url).href);
  server = { ...(await load("app")), ...(await load("chat")), ...(await load("store")) };
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server?.store.close();
  await database?.drop();
  await postgres?.stop();
});

const ask = (path: string, cookie?: string, init: RequestInit = {}) =>
  server.app.request(path, {
    ...init,
    headers: { "content-type": "application/json", ...(cookie === undefined ? {} : { cookie }) },
  });

/** The cookie that a browser has after a visit, and how the server set it. */
async function visit(cookie?: string): Promise<{ readonly cookie: string; readonly rules: string }> {
  const response = await ask("/api/session", cookie, { method: "POST" });
  expect(response.status).toBe(204);
  const [own = "", ...rules] = (response.headers.get("set-cookie") ?? "").split("; ");
  return { cookie: own, rules: rules.join("; ") };
}

test("each visit gives the cookie a year more, and keeps who it is", async () => {
  const first = await visit();
  expect(first.cookie).toMatch(/^session=[-0-9a-f]{36}$/);
  expect(first.rules).toBe("Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax");
  expect(await visit(first.cookie)).toEqual(first);
  expect(await visit()).not.toEqual(first);
});

test("an empty cookie is nobody's", async () => {
  expect((await ask("/api/chat/any", "session=")).status).toBe(401);
  expect((await visit("session=")).cookie).toMatch(/^session=[-0-9a-f]{36}$/);
});

test("the context of a chat is its owner's; another's, one that is not there, and what is no id are alike", async () => {
  const { cookie: ann } = await visit();
  const { cookie: ben } = await visit();
  const message = { id: "q", role: "user", parts: [{ type: "text", text: "Hello" }] };
  const body = JSON.stringify({ id: "anns", message, trigger: "submit-message" });
  const answer = await ask("/api/chat", ann, { method: "POST", body });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("[DONE]")]);

  const context = await ask("/api/context/anns", ann);
  expect(context.status).toBe(200);
  expect(await context.json()).toMatchObject({
    maxTokens: 16_000,
    messages: [{ role: "user", text: "Hello" }, {}],
  });
  const others = ["anns", "nobodys", "x".repeat(600), "%00"].map((id) => ask(`/api/context/${id}`, ben));
  for (const response of await Promise.all(others)) {
    expect([response.status, await response.json()]).toEqual([404, { error: "No such chat." }]);
  }
  expect((await ask("/api/context/anns")).status).toBe(404);
});

test("a setting that is wrong is told, and not taken for a chat that is not there", async () => {
  const { cookie } = await visit();
  const memory = server.memories.get("any");
  const { explain } = memory;
  const misspelt = vi.spyOn(server.memories, "get").mockReturnValue({
    ...memory,
    explain: () => explain.call(memory, { profil: "none" } as object),
  });
  const told = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => {
    misspelt.mockRestore();
    told.mockRestore();
  });
  expect((await ask("/api/context/any", cookie)).status).toBe(500);
  expect(told).toHaveBeenCalledWith(expect.objectContaining({ code: "INVALID_OPTION" }));
});
