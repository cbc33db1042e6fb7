import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anthropicServer, type ModelServer, openaiServer, weatherBot } from "../src/index.ts";

async function post(url: string, headers: Record<string, string>, body: unknown): Promise<[number, unknown]> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
  const response = await fetch(url, init);
  return [response.status, await response.json()];
}

const user = { role: "user", content: "Weather in Oslo?" };

describe("OpenAI's protocol", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await openaiServer(weatherBot, "key");
  });
  afterAll(() => server.stop());

  const tools = [{ type: "function", function: { name: "weather", parameters: {} } }];
  const call = { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } };
  const ask = (messages: unknown[], key = "key"): Promise<[number, unknown]> =>
    post(
      `${server.url}/v1/chat/completions`,
      { authorization: `Bearer ${key}` },
      { model: "m", messages, tools },
    );

  test("answers", async () => {
    expect(await ask([user])).toMatchObject([
      200,
      { choices: [{ message: { tool_calls: [{ id: "call_1_0" }] } }] },
    ]);
    const result = { role: "tool", tool_call_id: "c1", content: "4 °C" };
    const [, answer] = await ask([user, { role: "assistant", tool_calls: [call] }, result]);
    expect(answer).toMatchObject({ choices: [{ message: { content: "4 °C." }, finish_reason: "stop" }] });
  });

  test.each([
    ["no message", []],
    ["a call without a result", [user, { role: "assistant", tool_calls: [call] }, user]],
    ["a call without a result at the end", [user, { role: "assistant", tool_calls: [call] }]],
    ["a result without a call", [user, { role: "tool", tool_call_id: "c1", content: "" }]],
    ["a list of no calls", [user, { role: "assistant", content: "", tool_calls: [] }]],
  ])("refuses %s", async (_what, messages) => {
    expect(await ask(messages)).toMatchObject([400, { error: { type: "invalid_request_error" } }]);
  });

  test("refuses another key", async () => {
    expect((await ask([user], "other"))[0]).toBe(401);
  });
});

describe("Anthropic's protocol", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await anthropicServer(weatherBot, "key");
  });
  afterAll(() => server.stop());

  const use = { type: "tool_use", id: "t1", name: "weather", input: { city: "Oslo" } };
  const result = { type: "tool_result", tool_use_id: "t1", content: "4 °C" };
  const headers = { "x-api-key": "key", "anthropic-version": "2023-06-01" };
  const ask = (messages: unknown[], more: Record<string, string> = {}): Promise<[number, unknown]> =>
    post(
      `${server.url}/v1/messages`,
      { ...headers, ...more },
      {
        model: "m",
        max_tokens: 100,
        messages,
        tools: [{ name: "weather", input_schema: {} }],
      },
    );

  test("answers", async () => {
    expect(await ask([user])).toMatchObject([200, { content: [{ type: "tool_use", id: "toolu_1_0" }] }]);
    const messages = [user, { role: "assistant", content: [use] }, { role: "user", content: [result] }];
    expect(await ask(messages)).toMatchObject([200, { content: [{ type: "text", text: "4 °C." }] }]);
  });

  test.each([
    ["no message", []],
    ["a call without a result", [user, { role: "assistant", content: [use] }, user]],
    [
      "a result without a call",
      [user, { role: "assistant", content: "a" }, { role: "user", content: [result] }],
    ],
    ["an empty text", [{ role: "user", content: [{ type: "text", text: "" }] }]],
    ["a beginning of the model's", [{ role: "assistant", content: "a" }, user]],
    ["an end of the model's", [user, { role: "assistant", content: "a" }]],
    ["a system message among the others", [{ role: "system", content: "a" }, user]],
  ])("refuses %s", async (_what, messages) => {
    expect((await ask(messages))[0]).toBe(400);
  });

  test("refuses another key", async () => {
    expect((await ask([user], { "x-api-key": "other" }))[0]).toBe(401);
    expect((await ask([user], { "x-api-key": "", authorization: "Bearer key" }))[0]).toBe(200);
  });
});
