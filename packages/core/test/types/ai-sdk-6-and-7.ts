/** Compiled by the type check, never run: what the helpers build is a message of both majors of the AI SDK, without a cast. */
import type { ModelMessage as ModelMessage6 } from "ai6";
import type { ModelMessage as ModelMessage7 } from "ai7";
import * as core from "../../src/index.ts";

type Added<M extends core.ModelMessageLike> = Parameters<core.ChatMemory<M>["add"]>[number];

/** Adds to a memory of either major. */
declare function add(...messages: (Added<ModelMessage6> & Added<ModelMessage7>)[]): Promise<void>;
declare const url: URL;

export async function withTheHelpers(): Promise<void> {
  await add(core.system("Be brief."), core.user("Hello"), core.assistant("Good morning."));
  await add(core.entry(core.user("Hello"), { id: "request-17" }));
  await add(core.toolCall("1", "weather", {}), core.toolCall("2", "weather", {}, "I look."));
  await add(core.toolResult("1", "weather", "None"));
  await add(core.toolResult("1", "weather", { days: [{ celsius: 4 }] }, { isError: true }));
}

export async function withPartsOfTheHelpers(): Promise<void> {
  const question = core.user([
    { type: "text", text: "Hello", providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } },
    { type: "image", image: url },
    { type: "file", data: url, mediaType: "text/plain" },
  ]);
  await add(question, core.entry(question, { id: "request-17" }));
  await add(core.user([url].map((image) => ({ type: "image", image }))));
  await add(
    core.assistant([
      { type: "reasoning", text: "Both." },
      { type: "tool-call", toolCallId: "1", toolName: "weather", input: {} },
      { type: "tool-call", toolCallId: "2", toolName: "weather", input: { city: "Oslo" } },
    ]),
  );
  await add(
    core.assistant(
      ["1", "2"].map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "weather", input: {} })),
    ),
  );
}

interface Day {
  readonly celsius: number;
  readonly wind?: string;
}
interface Weather {
  city: string | null;
  days: Day[];
  byHour: Record<string, Day>;
}

/** What a library returns is often typed by interfaces, which no index signature takes. */
export async function withOutputsOfInterfaces(
  weather: Weather,
  when: { at: Date; of: Weather },
): Promise<void> {
  await add(core.toolResult("1", "weather", weather), core.toolResult("1", "weather", weather.days));
  await add(core.toolResult("1", "weather", { now: weather, later: [weather] }, { isError: true }));
  // @ts-expect-error no JSON value
  core.toolResult("1", "weather", when);
  // @ts-expect-error no JSON value
  core.toolResult("1", "weather", new Date());
  // @ts-expect-error no JSON value
  core.toolResult("1", "weather", { of: weather, next: () => 1 });
  // @ts-expect-error nothing is null
  core.toolResult("1", "weather", undefined);
}

export async function ofAnyJsonValue<T extends core.JsonValue>(output: T): Promise<void> {
  const result = core.toolResult("1", "weather", output);
  await core.createChatMemory().add({ role: result.role, content: [] });
}

/** Were it one of any message, nothing above would say anything. */
export async function withWhatIsNoMessageOfBoth(): Promise<void> {
  // @ts-expect-error a custom part, which major 6 has not
  await add(core.assistant([{ type: "custom", kind: "openai.compaction" }]));
}
