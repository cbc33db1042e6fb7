import {
  type BaseLlmConnection,
  type Event,
  InMemorySessionService,
  LiveRequestQueue,
  type LlmResponse,
  Runner,
} from "@google/adk";
import { gemini } from "@turnkeep/formats/profiles";
import { expect, it } from "vitest";
import { agentOf, type Contents, names, ScriptedLlm, saying, told, toolOf, worldOf } from "./world.ts";

/** What comes from the server of a live model, or what happens before more comes. */
type Heard = LlmResponse | (() => Promise<void>);

/** A model whose live connections hear this, and which keeps what they were sent. */
class LiveLlm extends ScriptedLlm {
  readonly histories: string[][] = [];
  readonly sent: string[] = [];
  readonly #heard: readonly Heard[];

  constructor(...heard: Heard[]) {
    super();
    this.#heard = heard;
  }

  override async connect(): Promise<BaseLlmConnection> {
    const heard = this.#heard;
    return {
      sendHistory: async (contents) => void this.histories.push((contents as Contents).map(told)),
      sendContent: async (content) => void this.sent.push(told(content)),
      sendRealtime: async () => undefined,
      async *receive() {
        for (const next of heard) {
          if (typeof next === "function") await next();
          else yield structuredClone(next);
        }
      },
      close: async () => undefined,
    };
  }
}

async function live(runner: Runner): Promise<Event[]> {
  const { userId, sessionId } = names;
  const events: Event[] = [];
  const liveRequestQueue = new LiveRequestQueue();
  for await (const event of runner.runLive({ userId, sessionId, liveRequestQueue })) events.push(event);
  return events;
}

const turnEnds: LlmResponse[] = [
  { usageMetadata: { promptTokenCount: 10, totalTokenCount: 12 } },
  { turnComplete: true },
];

function asks(text: string): LlmResponse[] {
  return [
    { inputTranscription: { text, finished: false }, partial: true },
    { inputTranscription: { text, finished: true }, partial: false },
  ];
}

function answers(text: string): LlmResponse[] {
  return [
    { content: { role: "model", parts: [{ inlineData: { mimeType: "audio/pcm", data: "AAAA" } }] } },
    { outputTranscription: { text, finished: false }, partial: true },
    { outputTranscription: { text, finished: true }, partial: false },
  ];
}

function calls(name: string): LlmResponse {
  return { content: { role: "model", parts: [{ functionCall: { id: `call-${name}`, name, args: {} } }] } };
}

function writes(text: string): LlmResponse[] {
  const content = { role: "model", parts: [{ text }] };
  return [
    { content, partial: true },
    { content, partial: false },
  ];
}

/** What is told of a call of the tool. */
const called = ["model: [weather]", 'user: <weather {"result":"weather done"}>'];

/** Without what differs from run to run. */
function plain(events: readonly Event[] = []): object[] {
  const kept = events.map(({ id: _, timestamp: __, invocationId: ___, ...members }) => members);
  return JSON.parse(JSON.stringify(kept));
}

it("a live run is recorded as ADK records it: whole transcriptions and texts, calls, what was cut off, no audio", async () => {
  const heard: Heard[] = [
    { liveSessionResumptionUpdate: { newHandle: "handle-1", resumable: true } },
    ...asks("What is the weather?"),
    calls("weather"),
    ...answers("It rains."),
    ...turnEnds,
    ...asks("And tomor"),
    ...answers("It will"),
    { interrupted: true },
    ...writes("Yes?"),
    { turnComplete: true, interrupted: true },
  ];
  const model = new LiveLlm(...heard);
  const { runner, service } = worldOf(agentOf(model, toolOf("weather")), { profile: gemini });
  const shown = await live(runner);
  expect(shown.filter(({ partial }) => partial)).toHaveLength(5);
  const session = await service.getSession(names);
  const recorded = plain(session?.events);
  expect(JSON.stringify(recorded)).not.toContain("audio/pcm");
  expect(recorded).toHaveLength(12);

  const [sessionService, { appName }] = [new InMemorySessionService(), names];
  const agent = agentOf(new LiveLlm(...heard), toolOf("weather"));
  await live(new Runner({ appName, agent, sessionService }));
  expect(recorded).toEqual(plain((await sessionService.getSession(names))?.events));

  // The next one opens with the contents that ADK makes of it.
  await live(runner);
  expect(model.histories).toEqual([[...called, "model: Yes?"]]);
  expect(model.sent).toEqual([called[1], called[1]]);
});

it.each([
  ["step", ["user: Here is our conversation so far.", ...called]],
  ["turn", []],
] as const)(
  "a long live run stays within the window in %ss, and a run in text goes on from it",
  async (unit, before) => {
    const turn = [...asks("Question"), ...answers("Answer"), ...turnEnds];
    const heard = [...Array.from({ length: 20 }, () => turn).flat(), calls("weather"), ...turn];
    const model = new LiveLlm(...heard);
    const { runner, service, ask } = worldOf(agentOf(model, toolOf("weather")), {
      window: { maxMessages: 10, unit },
      profile: gemini,
    });
    await live(runner);
    expect((await service.memory(names).entries()).length).toBeLessThanOrEqual(10);
    expect((await service.getSession(names))?.events).toHaveLength(86);
    await ask("And now?");
    expect(model.prompts()).toEqual([[...before, "user: And now?"]]);
    expect((await service.getSession(names))?.events).toHaveLength(88);
  },
);

it("a session that is deleted under a live run ends it, and nothing of it comes back", async () => {
  const model: LiveLlm = new LiveLlm(
    ...asks("Question"),
    () => service.deleteSession(names),
    ...answers("Answer"),
    ...turnEnds,
  );
  const { runner, service } = worldOf(agentOf(model));
  await expect(live(runner)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await service.getSession(names)).toBeUndefined();
});

it("what another process says in the session meanwhile stands in its place", async () => {
  const model: LiveLlm = new LiveLlm(
    ...asks("Question"),
    async () => {
      const session = await service.getOrCreateSession(names);
      await service.appendEvent({ session, event: saying("From elsewhere") });
    },
    ...answers("Answer"),
  );
  const { runner, service, recorded } = worldOf(agentOf(model));
  await live(runner);
  expect(await recorded()).toEqual(["-", "user: From elsewhere", "-"]);
});
