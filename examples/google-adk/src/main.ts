// npm install @google/adk @turnkeep/core @turnkeep/formats @turnkeep/google-adk zod
// A model of our own answers; for Gemini write model: "gemini-flash-latest", and set GOOGLE_API_KEY.

import { BaseLlm, FunctionTool, LlmAgent, type LlmRequest, LogLevel, Runner, setLogLevel } from "@google/adk";
import { inMemoryStore } from "@turnkeep/core";
import { gemini } from "@turnkeep/formats/profiles";
import { TurnkeepPlugin, TurnkeepSessionService } from "@turnkeep/google-adk";
import { z } from "zod";

setLogLevel(LogLevel.ERROR);

const say = (text: string) => [{ text }];
const replies = [
  say("Hello, Ann."),
  [{ functionCall: { name: "weather", args: { city: "Oslo" } } }],
  say("Take an umbrella."),
  say("It rains there."),
];
const shown: string[] = [];

class Scripted extends BaseLlm {
  async *generateContentAsync({ contents }: LlmRequest) {
    shown.push(contents.map(({ role, parts }) => (parts?.[0]?.functionResponse ? "tool" : role)).join(" "));
    yield { content: { role: "model", parts: replies.shift() ?? say("…") } };
  }

  async connect(): Promise<never> {
    throw new Error("Not for live runs.");
  }
}

const weather = new FunctionTool({
  name: "weather",
  description: "The weather in a city",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }, context) => {
    context?.state.set("user:city", city); // for all sessions of this user
    return `${city}: 4 °C, rain`;
  },
});

const sessionService = new TurnkeepSessionService({
  store: inMemoryStore(), // or postgresStore({ url }), …
  window: { maxMessages: 6, unit: "turn" },
});
const runner = new Runner({
  appName: "weather",
  agent: new LlmAgent({ name: "helper", model: new Scripted({ model: "scripted" }), tools: [weather] }),
  sessionService,
  plugins: [new TurnkeepPlugin({ sessionService, profile: gemini })],
});

const ann = { userId: "ann", sessionId: "chat-1" };
await sessionService.createSession({ appName: "weather", ...ann });
for (const question of ["I am Ann.", "Do I need an umbrella in Oslo?", "Why?"]) {
  let answer = "";
  for await (const { content } of runner.runAsync({
    ...ann,
    newMessage: { role: "user", parts: say(question) },
  })) {
    answer = content?.parts?.[0]?.text ?? answer;
  }
  console.log(`> ${question}\n${answer} (shown: ${shown.at(-1)})`);
}

const session = await sessionService.getSession({ appName: "weather", ...ann });
console.log("said:", session?.events.map(({ author }) => author).join(" "));
const next = await sessionService.createSession({ appName: "weather", userId: "ann" });
console.log("known of ann in her next session:", JSON.stringify(next.state));

const newMessage = { role: "user", parts: say("What did she say?") };
await runner
  .runAsync({ ...ann, userId: "bob", newMessage })
  .next()
  .catch(({ message }) => console.log("bob:", message));
