import {
  BasePlugin,
  createEvent,
  type Event,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  type LlmRequest,
  LongRunningFunctionTool,
  ParallelAgent,
  Runner,
} from "@google/adk";
import { inMemoryStore, isTurnkeepError } from "@turnkeep/core";
import { redact } from "@turnkeep/core/processors";
import { gemini } from "@turnkeep/formats/profiles";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { TurnkeepPlugin } from "../src/index.ts";
import {
  agentOf,
  ask,
  type Contents,
  calling,
  names,
  type Parts,
  ScriptedLlm,
  saying,
  serviceOf,
  told,
  toolOf,
  worldOf,
} from "./world.ts";

const done = (name: string): string => `user: <${name} {"result":"${name} done"}>`;

describe("what the model is shown", () => {
  it("is the window, in whole turns, while the record has everything", async () => {
    const model = new ScriptedLlm(
      [{ text: "Hello, Ann." }],
      calling("weather"),
      [{ text: "Rain." }],
      calling("weather"),
      [{ text: "Still rain." }],
    );
    const { ask, recorded } = worldOf(agentOf(model, toolOf("weather")), {
      window: { maxMessages: 5, unit: "turn" },
      profile: gemini,
    });
    await ask("I am Ann.");
    await ask("Weather?");
    await ask("And now?");
    const asked = ["user: Weather?", "model: [weather]", done("weather")];
    expect(model.prompts().slice(1)).toEqual([
      ["user: I am Ann.", "model: Hello, Ann.", "user: Weather?"],
      ["user: I am Ann.", "model: Hello, Ann.", ...asked],
      [...asked, "model: Rain.", "user: And now?"],
      ["user: And now?", "model: [weather]", done("weather")],
    ]);
    expect(await recorded()).toHaveLength(10);
  });

  it("holds the question, however many calls follow it", async () => {
    const model = new ScriptedLlm(calling("one"), calling("one"), calling("one"), [{ text: "Done." }]);
    const { ask } = worldOf(agentOf(model, toolOf("one")), { window: { maxMessages: 4 }, profile: gemini });
    await ask("Do it.");
    const step = ["model: [one]", done("one")];
    expect(model.prompts()).toEqual([
      ["user: Do it."],
      ["user: Do it.", ...step],
      ["user: Do it.", ...step],
      ["user: Do it.", ...step],
    ]);
  });

  it("has a result for a call that a crash has cut off", async () => {
    const model = new ScriptedLlm([{ text: "Once more, then." }]);
    const { ask, service } = worldOf(agentOf(model));
    const session = await service.createSession(names);
    await service.appendEvent({ session, event: saying("Pay.") });
    const content = { role: "model", parts: [{ functionCall: { id: "adk-1", name: "pay", args: {} } }] };
    await service.appendEvent({ session, event: createEvent({ author: "helper", content }) });
    await ask("Go on.");
    expect(model.prompts()).toEqual([
      [
        "user: Pay.",
        "model: [pay]",
        expect.stringMatching(/^user: <pay \{"error":".*interrupted/),
        "user: Go on.",
      ],
    ]);
  });

  it("has a result for a call that another run has under way", async () => {
    const sessionService = serviceOf();
    class Another extends BasePlugin {
      override async beforeModelCallback(): Promise<undefined> {
        const session = await sessionService.getOrCreateSession(names);
        await sessionService.appendEvent({ session, event: saying("Pay.") });
        const parts = [{ functionCall: { id: "adk-1", name: "pay", args: {} } }];
        const event = createEvent({ author: "helper", content: { role: "model", parts } });
        await sessionService.appendEvent({ session, event });
      }
    }
    const model = new ScriptedLlm([{ text: "Yes." }]);
    const plugins = [new Another("another"), new TurnkeepPlugin({ sessionService })];
    const runner = new Runner({ appName: "app", agent: agentOf(model), sessionService, plugins });
    await ask(runner, "All well?");
    expect(model.requests.map((contents) => contents.map(told))).toEqual([
      ["user: All well?", "user: Pay.", "model: [pay]", expect.stringMatching(/^user: <pay .*interrupted/)],
    ]);
  });

  it("goes through the memory's processors", async () => {
    const model = new ScriptedLlm([{ text: "Noted." }]);
    const { ask, recorded } = worldOf(agentOf(model), { processors: [redact({ patterns: [/\d{4}/g] })] });
    await ask("My PIN is 1234.");
    expect(model.prompts()[0]?.[0]).not.toContain("1234");
    expect((await recorded())[0]).toContain("1234");
  });

  it("keeps what tools, callbacks and other plugins have changed in a request, and what they have added", async () => {
    class Others extends BasePlugin {
      override async beforeModelCallback({ llmRequest }: { llmRequest: LlmRequest }): Promise<undefined> {
        llmRequest.contents[0] = { role: "user", parts: [{ text: "changed" }] };
        llmRequest.contents.push({ role: "user", parts: [{ text: "added" }] });
      }
    }
    class Cuts extends BasePlugin {
      override async beforeModelCallback({ llmRequest }: { llmRequest: LlmRequest }): Promise<undefined> {
        llmRequest.contents = [{ role: "user", parts: [{ text: "theirs" }] }];
      }
    }
    for (const [other, shown] of [
      [new Others("others"), ["user: changed", "user: added"]],
      [new Cuts("cuts"), ["user: theirs"]],
    ] as const) {
      const model = new ScriptedLlm([{ text: "One." }], [{ text: "Two." }]);
      const sessionService = serviceOf();
      const plugins = [other, new TurnkeepPlugin({ sessionService })];
      const runner = new Runner({ appName: "app", agent: agentOf(model), sessionService, plugins });
      const session = await sessionService.createSession(names);
      await sessionService.appendEvent({ session, event: saying("Before.") });
      await ask(runner, "Hello");
      const rest = other instanceof Others ? ["user: Hello"] : [];
      expect(model.requests.map((contents) => contents.map(told))).toEqual([
        [shown[0], ...rest, ...shown.slice(1)],
      ]);
    }
  });

  it("has what another plugin put first, changed or put last in its place in the window", async () => {
    const first = { role: "user", parts: [{ text: "Of today: " }] };
    const last = { role: "user", parts: [{ text: " (a file)" }] };
    for (const [change, shown] of [
      [
        ({ contents }: LlmRequest) => contents.unshift(first),
        ["user: Of today: yes", "model: Two.", "user: yes"],
      ],
      [
        ({ contents }: LlmRequest) => contents.at(-1)?.parts?.push({ text: " (found)" }),
        ["user: yes", "model: Two.", "user: yes (found)"],
      ],
      [
        ({ contents }: LlmRequest) => contents.splice(-1, 0, first),
        ["user: yes", "model: Two.", "user: Of today: yes"],
      ],
      [
        ({ contents }: LlmRequest) => {
          contents.unshift(first);
          contents.push(last);
        },
        ["user: Of today: yes", "model: Two.", "user: yes (a file)"],
      ],
      [
        ({ contents }: LlmRequest) => {
          contents[0] = first;
          contents.push(last, last);
        },
        ["user: yes", "model: Two.", "user: yes (a file) (a file)"],
      ],
    ] as const) {
      class Other extends BasePlugin {
        override async beforeModelCallback({ llmRequest }: { llmRequest: LlmRequest }): Promise<undefined> {
          change(llmRequest);
        }
      }
      const model = new ScriptedLlm([{ text: "One." }], [{ text: "Two." }], [{ text: "Three." }]);
      const sessionService = serviceOf({ window: { maxMessages: 3 } });
      const plugins = [new Other("other"), new TurnkeepPlugin({ sessionService, profile: gemini })];
      const runner = new Runner({ appName: "app", agent: agentOf(model), sessionService, plugins });
      for (const question of ["yes", "yes", "yes"]) await ask(runner, question);
      expect(model.prompts().at(-1)).toEqual(shown);
    }
  });

  it("is an error event where nothing fits, or the runner's sessions are others", async () => {
    const model = new ScriptedLlm([{ text: "Never." }]);
    const { runner: short } = worldOf(agentOf(model), {
      window: { maxTokens: 1, counter: { name: "ten", count: () => 10 } },
    });
    const [event] = await ask(short, "Hello");
    expect(event?.errorMessage).toContain("plugin 'turnkeep'");
    expect(event?.errorMessage).toContain("window");
    const plugins = [new TurnkeepPlugin({ sessionService: serviceOf() })];
    const sessionService = new InMemorySessionService();
    const runner = new Runner({ appName: "app", agent: agentOf(model), sessionService, plugins });
    const [other] = await ask(runner, "Hello");
    expect(other?.errorMessage).toContain("Give both the same");
    expect(model.requests).toEqual([]);
  });
});

/** A conversation over each service, and what its models were asked. */
const conversations: Record<
  string,
  () => { agent: LlmAgent | ParallelAgent; models: ScriptedLlm[]; talk: Talk }
> = {
  "another agent that takes over": () => {
    const billing = new ScriptedLlm(calling("look_up"), [{ text: "You owe 5." }], [{ text: "Yes." }]);
    const first = new ScriptedLlm([
      { functionCall: { name: "transfer_to_agent", args: { agentName: "billing" } } },
    ]);
    const sub = new LlmAgent({
      name: "billing",
      description: "bills",
      model: billing,
      tools: [toolOf("look_up")],
    });
    const agent = new LlmAgent({ name: "desk", model: first, subAgents: [sub] });
    return {
      agent,
      models: [first, billing],
      talk: async (say) => {
        await say("My bill?");
        await say("Sure?");
      },
    };
  },
  "agents beside each other": () => {
    const models = ["a", "b"].map((name) => new ScriptedLlm(calling("look_up"), [{ text: `${name} done.` }]));
    const subAgents = models.map(
      (model, at) => new LlmAgent({ name: `worker${at}`, model, tools: [toolOf("look_up")] }),
    );
    return {
      agent: new ParallelAgent({ name: "both", subAgents }),
      models,
      talk: async (say) => void (await say("Go.")),
    };
  },
  "a tool that takes long, and whose result the user brings": () => {
    const model = new ScriptedLlm(
      calling("order"),
      [{ text: "Ordered." }],
      [{ text: "Anything else?" }],
      [{ text: "It has come." }],
    );
    const order = new LongRunningFunctionTool({
      name: "order",
      description: "order",
      parameters: z.object({}),
      execute: () => ({ status: "pending" }),
    });
    const agent = agentOf(model, order);
    return {
      agent,
      models: [model],
      talk: async (say) => {
        const events = await say("Order it.");
        const id = events.find(({ longRunningToolIds }) => longRunningToolIds?.length)
          ?.longRunningToolIds?.[0];
        await say("Thanks.");
        await say([
          { functionResponse: { id: id as string, name: "order", response: { status: "arrived" } } },
        ]);
      },
    };
  },
  "a tool that asks first": () => {
    const model = new ScriptedLlm(calling("pay"), [{ text: "Paid." }], [{ text: "Bye." }]);
    const pay = new FunctionTool({
      name: "pay",
      description: "pay",
      parameters: z.object({}),
      execute: () => "paid",
      requireConfirmation: true,
    } as never);
    return {
      agent: agentOf(model, pay),
      models: [model],
      talk: async (say) => {
        const events = await say("Pay.");
        const parts = events.flatMap(({ content }) => content?.parts ?? []);
        const asked = parts.find(({ functionCall }) => functionCall?.name === "adk_request_confirmation");
        const { id, name } = asked?.functionCall ?? {};
        await say([
          { functionResponse: { id: id as string, name: name as string, response: { confirmed: true } } },
        ]);
        await say("Bye.");
      },
    };
  },
};

type Talk = (say: (said: string | Parts) => Promise<Event[]>) => Promise<void>;

async function promptsOver(name: string, isOurs: boolean): Promise<Contents[][]> {
  const { agent, models, talk } = (conversations[name] as () => ReturnType<(typeof conversations)[string]>)();
  const theirs = new Runner({ appName: names.appName, agent, sessionService: new InMemorySessionService() });
  const { runner } = isOurs ? worldOf(agent) : { runner: theirs };
  await talk((said) => ask(runner, said));
  return models.map(({ requests }) => requests);
}

describe("without a window, each model is asked what ADK alone would ask it", () => {
  it.each(Object.keys(conversations))("%s", async (name) => {
    const [ours, theirs] = [await promptsOver(name, true), await promptsOver(name, false)];
    const lines = (models: Contents[][]) =>
      models.map((requests) => requests.map((contents) => contents.map(told)));
    expect(lines(ours)).toEqual(lines(theirs));
    expect(ours.flat().length).toBeGreaterThan(1);
  });
});

describe("sessions of others", () => {
  it("are not there for another user, under the same id", async () => {
    const model = new ScriptedLlm([{ text: "Hello, Ann." }], [{ text: "Hello, Bob." }]);
    const { ask, recorded, runner, service } = worldOf(agentOf(model));
    await ask("I am Ann.");
    const bob = { ...names, userId: "bob" };
    expect(await service.getSession(bob)).toBeUndefined();
    const newMessage = { role: "user", parts: [{ text: "What did she say?" }] };
    await expect(runner.runAsync({ ...bob, newMessage }).next()).rejects.toThrow("Session not found");
    expect(model.requests).toHaveLength(1);
    await ask("I am Bob.", bob);
    expect(model.prompts()[1]).toEqual(["user: I am Bob."]);
    await service.deleteSession(bob);
    expect(await recorded()).toEqual(["user: I am Ann.", "model: Hello, Ann."]);
    // A memory that was given away is refused, not shown.
    await service.memories.assign({ from: service.owner(names), to: service.owner(bob) });
    await expect(service.getSession(names)).rejects.toMatchObject({ code: "OWNER_MISMATCH" });
  });
});

describe("a run whose session changes meanwhile", () => {
  it("ends once its question was taken back, or the session deleted, and nothing of it comes back", async () => {
    for (const change of ["rewind", "clear"] as const) {
      const tool = toolOf("slow", async () => {
        const memory = service.memory(names);
        const [question] = await memory.entries();
        await (change === "rewind" ? memory.rewind(question?.id ?? "") : memory.clear());
        if (change === "clear") await service.createSession(names);
        return "done";
      });
      const model = new ScriptedLlm(calling("slow"), [{ text: "Never." }]);
      const { ask, recorded, service } = worldOf(agentOf(model, tool));
      const error = await ask("Go.").catch((error: unknown) => error);
      expect(isTurnkeepError(error, "NOT_FOUND")).toBe(true);
      expect(await recorded()).toEqual([]);
      expect(model.requests).toHaveLength(1);
    }
  });

  it("goes on with what others have said and set", async () => {
    const tool = toolOf("slow", async () => {
      const other = serviceOf({ store });
      const session = await other.getSession(names);
      const actions = { stateDelta: { colour: "red", "user:tone": "brief" } };
      await other.appendEvent({
        session: session as never,
        event: saying("From a phone.", "user", { actions } as never),
      });
      return "done";
    });
    const states: unknown[] = [];
    const model = new ScriptedLlm(calling("slow"), [{ text: "Done." }], [{ text: "Yes." }]);
    const agent = new LlmAgent({
      name: "helper",
      model,
      tools: [tool],
      beforeModelCallback: ({ context }) =>
        void states.push(context.state.get("colour"), context.state.get("user:tone")),
    });
    const store = inMemoryStore();
    const { ask, recorded } = worldOf(agent, { store });
    await ask("Go.");
    expect(states).toEqual([undefined, undefined, "red", "brief"]);
    // ADK shows nothing that was said between a call and its result until the result is behind.
    expect(model.prompts()[1]).toEqual(["user: Go.", "model: [slow]", 'user: <slow {"result":"done"}>']);
    await ask("And?");
    expect(model.prompts()[2]?.slice(2)).toEqual([
      'user: <slow {"result":"done"}>',
      "user: From a phone.",
      "model: Done.",
      "user: And?",
    ]);
    expect(await recorded()).toHaveLength(7);
  });
});
