import { describe, expect, it } from "vitest";
import { countTools, type FunctionDefinition, textCounter } from "../src/index.ts";

const weather: FunctionDefinition = {
  name: "get_current_weather",
  description: "Get the current weather in a given location",
  parameters: {
    type: "object",
    properties: {
      location: { type: "string", description: "The city and state, e.g. San Francisco, CA" },
      unit: {
        type: "string",
        description: "The unit of temperature to return",
        enum: ["celsius", "fahrenheit"],
      },
    },
    required: ["location"],
  },
};

/** The messages of that example. */
const messages = [
  ["system", "You are a helpful assistant that can answer to questions about the weather."],
  ["user", "What's the weather like in San Francisco?"],
] as const;

async function countMessages(model: string): Promise<number> {
  const count = await textCounter(model);
  return messages.reduce((total, [role, text]) => total + 3 + count(role) + count(text), 3);
}

function cyclic(): object {
  const schema: { self?: object } = {};
  schema.self = schema;
  return schema;
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

const empty = { type: "object", properties: {} };

describe("countTools", () => {
  // OpenAI cookbook, "How to count tokens with tiktoken": what it prints for its example, tools and messages together.
  it.each([
    ["gpt-3.5-turbo", 105],
    ["gpt-4", 105],
    ["gpt-4o", 101],
    ["gpt-4o-mini", 101],
  ])("counts OpenAI's example for %s as published, %d", async (model, published) => {
    const beside = await countMessages(model);
    expect(beside + (await countTools(model, [{ function: weather }]))).toBe(published);
    expect(beside + (await countTools(model, [weather]))).toBe(published);
  });

  // What OpenAI's API reported for gpt-3.5-turbo beyond the messages: the test cases of openai-chat-tokens (hmarr).
  it.each<[number, string, FunctionDefinition[]]>([
    [24, "nothing but a name", [{ name: "foo", parameters: empty }]],
    [27, "a description", [{ name: "foo", description: "Do a foo", parameters: empty }]],
    [
      37,
      "a property",
      [
        {
          name: "bing_bong",
          description: "Do a bing bong",
          parameters: { type: "object", properties: { foo: { type: "string" } } },
        },
      ],
    ],
    [
      38,
      "two functions",
      [
        { name: "do_stuff", parameters: empty },
        { name: "do_other_stuff", parameters: empty },
      ],
    ],
  ])("keeps at least the %d tokens that were billed for %s", async (billed, _name, tools) => {
    const counted = await countTools("gpt-3.5-turbo", tools);
    expect(counted).toBeGreaterThanOrEqual(billed);
    expect(counted).toBeLessThanOrEqual(billed + 5);
  });

  it("counts what is nested too, and takes every schema", async () => {
    const cost = async (schema: unknown): Promise<number> =>
      countTools("gpt-4o", [{ name: "f", parameters: { type: "object", properties: { a: schema } } }]);
    const flat = await cost({ type: "object" });
    const nested = await cost({ type: "object", properties: { street: { type: "string" } } });
    const deeper = await cost({
      type: "object",
      properties: { street: { type: "object", properties: { number: { type: "integer" } } } },
    });
    expect(nested).toBeGreaterThan(flat);
    expect(deeper).toBeGreaterThan(nested);
    expect(await cost(true)).toBeGreaterThan(0);
    expect(await cost({ type: ["string", "null"], enum: ["x", null, 1] })).toBeGreaterThan(flat);
    const shared = { name: "f", parameters: { type: "object", $defs: { address: { type: "string" } } } };
    expect(await countTools("gpt-4o", [shared])).toBeGreaterThan(await countTools("gpt-4o", [{ name: "f" }]));
  });

  it("counts what stands where a schema says something else than usual", async () => {
    const [cost, count] = [
      (parameters: object) => countTools("gpt-4o", [{ name: "f", parameters }]),
      await textCounter("gpt-4o"),
    ];
    const bare = await cost({ type: "object", properties: {} });
    const closed = { $schema: "https://json-schema.org/draft-07/schema", additionalProperties: false };
    expect(await cost({ type: "object", properties: {}, required: [], ...closed })).toBe(bare);
    const property = async (schema: unknown): Promise<number> =>
      (await cost({ type: "object", properties: { city: schema } })) - bare - 6;
    expect(await property(true)).toBe(count("city"));
    expect(await property({ type: "string" })).toBe(count("city:string:"));
    expect(await property({ type: ["string", "null"] })).toBe(count('city:["string","null"]:'));
    expect(await property({ description: "A city." })).toBe(count("city::A city"));
    expect(await property({ description: 7 })).toBe(count("city::"));
  });

  it("costs nothing without tools, and refuses an unknown model", async () => {
    expect(await countTools("gpt-4o", [])).toBe(0);
    await expect(countTools("gpt-99", [])).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  it.each([
    ["an object by name, as the AI SDK's", { get_current_weather: weather }],
    ["a tool without a name, as those that a provider runs", [weather, { type: "web_search" }]],
    ["no list", undefined],
    ["a list of nothing", [null]],
    ["a list with a hole", new Array(1)],
    ["a description that is no text", [{ name: "secret", description: 5 }]],
    ["parameters that are no schema", [{ name: "f", parameters: "secret" }]],
    ["properties in a list", [{ name: "f", parameters: { properties: ["secret"] } }]],
    ["a property of null", [{ name: "f", parameters: { properties: { secret: null } } }]],
    ["a schema that contains itself", [{ name: "f", parameters: cyclic() }]],
    ["a schema nested too deep to be sent", [{ name: "f", parameters: { secret: deep(100_000) } }]],
    ["a bigint", [{ name: "f", parameters: { secret: 5n } }]],
  ])("refuses %s", async (_, tools) => {
    await expect(countTools("gpt-4o", tools as never)).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringMatching(/^countTools takes (?!.*secret)/),
    });
  });

  it("counts a deep schema that can be sent", async () => {
    const flat = await countTools("gpt-4o", [{ name: "f", parameters: { a: deep(1) } }]);
    expect(await countTools("gpt-4o", [{ name: "f", parameters: { a: deep(1000) } }])).toBeGreaterThan(flat);
  });
});
