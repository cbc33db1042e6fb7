import {
  Agent,
  type AgentInputItem,
  type AgentOutputItem,
  handoff,
  InputGuardrailTripwireTriggered,
  MemorySession,
  RunContext,
  type RunItem,
  RunState,
  run,
  type Session,
  tool,
} from "@openai/agents-core";
import { modelError, modelResponder } from "@openai/agents-core/testing";
import { createChatMemories, inMemoryStore, isTurnkeepError } from "@turnkeep/core";
import { openaiResponses } from "@turnkeep/formats/profiles";
import { gate } from "@turnkeep/store-tests/gate";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agentsFormat } from "../src/index.ts";
import {
  agentOf,
  calling,
  memoriesOf,
  modelOf,
  over,
  prompts,
  recorded,
  saying,
  sessionOf,
  told,
  toolOf,
  worked,
  worker,
} from "./agents.ts";

const codeOf = async (work: Promise<unknown>): Promise<unknown> => {
  const error = await work.catch((error: unknown) => error);
  return isTurnkeepError(error) ? error.code : error;
};

describe("a run with the hook", () => {
  it.each([
    ["no profile", {}],
    ["a profile", { profile: openaiResponses }],
  ])(
    "shows reasoning with the call behind it as the provider made it, in this run and the next, with %s",
    async (_, options) => {
      const memories = createChatMemories({ store: inMemoryStore(), format: agentsFormat, ...options });
      const session = sessionOf(memories);
      const thought: AgentOutputItem = {
        type: "reasoning",
        id: "rs_1",
        content: [{ type: "input_text", text: "Hm." }],
      };
      const model = modelOf([thought, calling("first")], [saying("Done.")], [saying("Again.")]);
      const agent = agentOf(model, toolOf("first"));
      await run(agent, "Go", over(session));
      await run(agent, "Once more", over(sessionOf(memories)));
      const step = ["reasoning", "[first]", "(first done)"];
      expect(prompts(model).slice(1)).toEqual([
        ["user: Go", ...step],
        ["user: Go", ...step, "assistant: Done.", "user: Once more"],
      ]);
      // In the record it stands as over the SDK's own session.
      const call = (await session.getItems()).find(({ type }) => type === "function_call");
      expect(call).not.toHaveProperty("id");
    },
  );

  it("shows and stores what it would over the SDK's own session, over several turns", async () => {
    const session = sessionOf();
    const theirs = new MemorySession();
    for (const question of ["One", "Two", "Two"]) {
      const [ours, peer] = [worker(), worker()];
      await run(ours.agent, question, over(session));
      await run(peer.agent, question, { session: theirs });
      expect(prompts(ours.model)).toEqual(prompts(peer.model));
      expect(await recorded(session)).toEqual((await theirs.getItems()).map(told));
    }
    expect(await recorded(session)).toHaveLength(18);
  });

  it("stores each step before the next model call, without the ids that a provider gave to calls", async () => {
    const session = sessionOf();
    const seen: string[][] = [];
    const look = async () => {
      seen.push(await recorded(session));
      return "seen";
    };
    const model = modelOf([calling("look")], [saying("Still at it."), calling("look")], [saying("Done.")]);
    await run(agentOf(model, toolOf("look", look)), "Look twice.", over(session));
    expect(seen).toEqual([["user: Look twice."], ["user: Look twice.", "[look]", "(seen)"]]);
    expect((await session.getItems()).filter((item) => "id" in item)).toEqual([]);
    // Within a run the model is shown them.
    const shown = model.calls[1]?.request.input as AgentInputItem[];
    expect(shown[1]?.id).toMatch(/^fc_/);
  });

  it("stores what tools called at once put out", async () => {
    const session = sessionOf();
    const model = modelOf([calling("first"), calling("second")], [saying("Done.")]);
    await run(agentOf(model, toolOf("first"), toolOf("second")), "Both.", over(session));
    const whole = ["user: Both.", "[first]", "[second]", "(first done)", "(second done)"];
    expect(prompts(model)[1]).toEqual(whole);
    expect(await recorded(session)).toEqual([...whole, "assistant: Done."]);
  });

  it("streams", async () => {
    const session = sessionOf();
    for (const question of ["One", "Two"]) {
      const { agent } = worker();
      const result = await run(agent, question, { ...over(session), stream: true });
      for await (const _ of result);
      await result.completed;
    }
    expect(await recorded(session)).toEqual(["user: One", ...worked, "user: Two", ...worked]);
  });

  it("hands over to another agent", async () => {
    const session = sessionOf();
    const second = modelOf([calling("first")], [saying("Done.")]);
    const expert = new Agent({ name: "Expert", model: second, tools: [toolOf("first")] });
    const triage = new Agent({
      name: "Triage",
      model: modelOf([calling("transfer_to_Expert")]),
      handoffs: [expert],
    });
    await run(triage, "Help.", over(session));
    const items = await recorded(session);
    expect(items.slice(0, 2)).toEqual(["user: Help.", "[transfer_to_Expert]"]);
    expect(items.slice(3)).toEqual(["[first]", "(first done)", "assistant: Done."]);
    expect(prompts(second)[1]).toEqual(items.slice(0, 5));
  });

  it("stores a question that another agent answers under the same context", async () => {
    const session = sessionOf();
    const context = new RunContext({ user: "ann" });
    const agentNamed = (name: string, model: ReturnType<typeof modelOf>): Agent =>
      new Agent({ name, model, tools: [toolOf("first")] });
    await run(agentNamed("A", modelOf([saying("1.")])), "One", { ...over(session), context });
    const second = modelOf([calling("first")], [saying("2.")]);
    await run(agentNamed("B", second), "Two", { ...over(session), context });
    const whole = ["user: One", "assistant: 1.", "user: Two", "[first]", "(first done)"];
    expect(prompts(second)).toEqual([whole.slice(0, 3), whole]);
    expect(await recorded(session)).toEqual([...whole, "assistant: 2."]);
  });

  it.each([
    ["beside the handoff", (newItems: RunItem[]) => newItems],
    ["alone", () => []],
  ])("shows what a handoff's filter has made %s, and does not store it", async (_, kept) => {
    const talk = async (over: object): Promise<string[][]> => {
      const model = modelOf([calling("first")], [saying("Done.")]);
      const expert = new Agent({ name: "Expert", model, tools: [toolOf("first")] });
      const summed = handoff(expert, {
        inputFilter: (data) => ({
          ...data,
          inputHistory: [{ role: "user", content: "In short: help." }],
          newItems: kept(data.newItems),
        }),
      });
      const first = modelOf([calling("transfer_to_Expert")]);
      await run(new Agent({ name: "Triage", model: first, handoffs: [summed] }), "Help.", over);
      return prompts(model);
    };
    const session = sessionOf();
    const theirs = new MemorySession();
    const shown = await talk(over(session));
    await talk({ session: theirs });
    const items = await recorded(session);
    expect(items).toEqual((await theirs.getItems()).map(told));
    expect(items[0]).toBe("user: Help.");
    for (const [call, before] of [items.slice(0, -3), items.slice(0, -1)].entries()) {
      expect(shown[call]).toEqual([...before, "user: In short: help."]);
    }
  });

  it("takes a list of items, and only what is new of it with a callback", async () => {
    const session = sessionOf();
    const ask = (content: string): AgentInputItem => ({ role: "user", content });
    await run(worker().agent, [ask("One"), ask("and a half")], over(session));
    const { model, agent } = worker();
    await run(agent, [ask("One")], {
      ...over(session),
      sessionInputCallback: (history, items) => [...history.slice(-1), ...items],
    });
    const before = ["user: One", "user: and a half", ...worked];
    expect(await recorded(session)).toEqual([...before, "user: One", ...worked]);
    // What is left out of the input is left to the window.
    expect(prompts(model)[0]).toEqual([...before, "user: One"]);
    const again = worker();
    await run(again.agent, [ask("One")], {
      ...over(session),
      sessionInputCallback: (_, items) => items,
    });
    expect((await recorded(session)).slice(-6)).toEqual(["user: One", ...worked]);
    expect(await recorded(session)).toHaveLength(19);
  });
});

describe("the window", () => {
  it("never cuts a call from its result, and keeps the question, while the record keeps everything", async () => {
    const session = sessionOf(memoriesOf({ maxMessages: 4 }));
    const theirs: string[] = [];
    for (const question of ["One", "Two"]) {
      const { model, agent } = worker();
      await run(agent, question, over(session));
      theirs.push(`user: ${question}`, ...worked);
      for (const prompt of prompts(model)) {
        expect(prompt.length).toBeLessThanOrEqual(4);
        expect(prompt).toContain(`user: ${question}`);
      }
      expect(prompts(model)[2]).toEqual([`user: ${question}`, "[second]", "(second done)"]);
    }
    expect(await recorded(session)).toEqual(theirs);
  });

  it("goes on with what an earlier session has stored, in a new one each time", async () => {
    const memories = memoriesOf({ maxMessages: 8, unit: "turn" });
    for (let n = 0; n < 6; n++) {
      const { model, agent } = worker();
      await run(agent, `${n}`, over(sessionOf(memories)));
      expect(prompts(model)[2]).toContain(`user: ${n}`);
    }
    expect(await recorded(sessionOf(memories))).toHaveLength(36);
  });

  it("stores nothing of what it made for the model alone", async () => {
    const session = sessionOf();
    await session.addItems([
      { role: "user", content: "Do it." },
      calling("first"),
      { role: "user", content: "Now!" },
    ]);
    const { model, agent } = worker();
    await run(agent, "Go on", over(session));
    // The call that nothing answers is no part of the SDK's input, and shown as interrupted.
    expect(prompts(model)[0]?.map((line) => line.replace(/\(.*/, "(…)"))).toEqual([
      ...["user: Do it.", "[first]", "(…)", "user: Now!", "user: Go on"],
    ]);
    expect(await recorded(session)).toEqual([
      "user: Do it.",
      "[first]",
      "user: Now!",
      "user: Go on",
      ...worked,
    ]);
  });

  it("shows a call as interrupted with which the record ends, where a run says nothing new", async () => {
    const session = sessionOf();
    await session.addItems([{ role: "user", content: "Do it." }, calling("first")]);
    const { model, agent } = worker();
    await run(agent, [], over(session));
    expect(prompts(model)[0]?.map((line) => line.replace(/\(.*/, "(…)"))).toEqual([
      ...["user: Do it.", "[first]", "(…)"],
    ]);
    expect(await recorded(session)).toEqual(["user: Do it.", "[first]", ...worked]);
  });

  it("stores a question as it was asked, whatever a processor shows of it", async () => {
    const { redact } = await import("@turnkeep/core/processors");
    const { createChatMemories, inMemoryStore } = await import("@turnkeep/core");
    const { agentsFormat } = await import("../src/index.ts");
    const processors = [redact({ patterns: [/4711|done/], replacement: "…" })];
    const session = sessionOf(
      createChatMemories({ store: inMemoryStore(), format: agentsFormat, processors }),
    );
    for (const question of ["It is 4711.", "It is 4711."]) {
      const { model, agent } = worker();
      await run(agent, question, over(session));
      expect(prompts(model)[1]?.slice(-3)).toEqual(["user: It is ….", "[first]", "(first …)"]);
    }
    expect(await recorded(session)).toEqual(["user: It is 4711.", ...worked, "user: It is 4711.", ...worked]);
  });
});

const approved = () => {
  const asking = tool({
    name: "asking",
    description: "asking",
    parameters: z.object({}),
    needsApproval: true,
    execute: async () => "asked",
  });
  const model = modelOf([calling("first")], [calling("asking")], [calling("first")], [saying("Done.")]);
  const agent = new Agent({ name: "Assistant", model, tools: [asking, toolOf("first")] });
  return { agent, model };
};

describe("a run that waits for an approval", () => {
  const whole = [
    ...[
      "user: Do it.",
      "[first]",
      "(first done)",
      "[asking]",
      "(asked)",
      "[first]",
      "(first done)",
      "assistant: Done.",
    ],
  ];

  it.each([false, true])("goes on from its state, within the process: streamed %s", async (stream) => {
    const session = sessionOf();
    const { agent, model } = approved();
    const first = await run(agent, "Do it.", over(session));
    expect(first.interruptions).toHaveLength(1);
    expect(await recorded(session)).toEqual(whole.slice(0, 4));
    for (const item of first.interruptions) first.state.approve(item);
    if (stream) {
      const result = await run(agent, first.state, { ...over(session), stream: true });
      await result.completed;
    } else {
      await run(agent, first.state, over(session));
    }
    expect(await recorded(session)).toEqual(whole);
    expect(prompts(model)[3]).toEqual(whole.slice(0, 7));
  });

  it("goes on from JSON, in another process, beside what others have said since", async () => {
    const memories = memoriesOf();
    const { agent, model } = approved();
    await run(worker().agent, "Before.", over(sessionOf(memories)));
    const first = await run(agent, "Do it.", over(sessionOf(memories)));
    const json = first.state.toString();
    const session = sessionOf(memories);
    const state = await RunState.fromString(agent, json);
    for (const item of state.getInterruptions()) state.approve(item);
    await run(agent, state, over(session));
    const items = await recorded(session);
    expect(items).toEqual(["user: Before.", ...worked, ...whole]);
    expect(prompts(model)[3]).toEqual(items.slice(0, -1));
  });

  it("tells the model what a person refused", async () => {
    const session = sessionOf();
    const { agent } = approved();
    const first = await run(agent, "Do it.", over(session));
    for (const item of first.interruptions) first.state.reject(item);
    await run(agent, first.state, over(session));
    const items = await recorded(session);
    expect(items).toHaveLength(8);
    expect(items[4]).toContain("not approved");
  });
});

describe("a run that fails", () => {
  it("has stored what was said so far, and the next goes on", async () => {
    const session = sessionOf();
    const failing = modelOf([calling("first")], modelError(new Error("overloaded")));
    await expect(run(agentOf(failing, toolOf("first")), "Do it.", over(session))).rejects.toThrow(
      "overloaded",
    );
    const said = ["user: Do it.", "[first]", "(first done)"];
    expect(await recorded(session)).toEqual(said);
    const { model, agent } = worker();
    await run(agent, "Go on", over(session));
    expect(prompts(model)[0]).toEqual([...said, "user: Go on"]);
    expect(await recorded(session)).toEqual([...said, "user: Go on", ...worked]);
  });

  it("keeps a question that is asked twice where the first run has failed", async () => {
    const session = sessionOf();
    const failing = agentOf(modelOf(modelError(new Error("overloaded"))));
    await expect(run(failing, "Do it.", over(session))).rejects.toThrow("overloaded");
    await session.addItems([{ role: "user", content: "Do it." }]);
    await run(worker().agent, "Do it.", over(session));
    expect(await recorded(session)).toEqual(["user: Do it.", "user: Do it.", "user: Do it.", ...worked]);
  });

  it("can be aborted", async () => {
    const session = sessionOf();
    const stop = new AbortController();
    const second = toolOf("second", () => stop.abort());
    const model = modelOf([calling("first")], [calling("second")], [saying("Done.")]);
    const result = await run(agentOf(model, toolOf("first"), second), "Do it.", {
      ...over(session),
      signal: stop.signal,
      stream: true,
    });
    await result.completed.catch(() => undefined);
    expect((await recorded(session)).slice(0, 3)).toEqual(["user: Do it.", "[first]", "(first done)"]);
    await run(worker().agent, "Go on", over(session));
    expect((await recorded(session)).slice(-6)).toEqual(["user: Go on", ...worked]);
  });

  it("stores nothing of a question that a guardrail stops before the model is asked", async () => {
    const session = sessionOf();
    const agent = new Agent({
      name: "Assistant",
      model: modelOf([saying("Never.")]),
      inputGuardrails: [
        {
          name: "polite",
          runInParallel: false,
          execute: async () => ({ tripwireTriggered: true, outputInfo: undefined }),
        },
      ],
    });
    await expect(run(agent, "Rude.", over(session))).rejects.toThrow(InputGuardrailTripwireTriggered);
    expect(await recorded(session)).toEqual([]);
  });

  it.each([false, true])(
    "keeps a question that a guardrail stops beside the model (stream: %s)",
    async (stream) => {
      const session = sessionOf();
      const agent = new Agent({
        name: "Assistant",
        model: modelOf([saying("Never.")]),
        inputGuardrails: [
          {
            name: "polite",
            execute: async () => {
              await new Promise((resolve) => setTimeout(resolve, 20));
              return { tripwireTriggered: true, outputInfo: undefined };
            },
          },
        ],
      });
      const asked = stream
        ? run(agent, "Rude.", { ...over(session), stream }).then(({ completed }) => completed)
        : run(agent, "Rude.", over(session));
      await expect(asked).rejects.toThrow(InputGuardrailTripwireTriggered);
      expect(await recorded(session)).toEqual(["user: Rude."]);
      await run(worker().agent, "Please.", over(session));
      expect(await recorded(session)).toEqual(["user: Rude.", "user: Please.", ...worked]);
    },
  );

  it("leaves what an output guardrail blocks out of the record, as the SDK does", async () => {
    const blocking = (model: ReturnType<typeof modelOf>) =>
      new Agent({
        name: "Assistant",
        model,
        tools: [toolOf("first")],
        outputGuardrails: [
          { name: "safe", execute: async () => ({ tripwireTriggered: true, outputInfo: undefined }) },
        ],
      });
    const answers = () => modelOf([calling("first")], [saying("A secret.")]);
    const [session, theirs] = [sessionOf(), new MemorySession()];
    await run(blocking(answers()), "Tell.", over(session)).catch(() => undefined);
    await run(blocking(answers()), "Tell.", { session: theirs }).catch(() => undefined);
    expect(JSON.stringify(await session.getItems())).not.toContain("secret");
    expect((await recorded(session)).slice(0, 3)).toEqual(["user: Tell.", "[first]", "(first done)"]);
    expect((await theirs.getItems()).map(told)).toEqual(await recorded(session));
  });
});

describe("several runs", () => {
  it("of one session at once are whole, each", async () => {
    const session = sessionOf();
    await Promise.all(["a", "b", "c"].map((question) => run(worker().agent, question, over(session))));
    await Promise.all(["a", "b", "c"].map((question) => run(worker().agent, question, over(session))));
    const items = await recorded(session);
    expect(items).toHaveLength(36);
    for (const line of worked) expect(items.filter((item) => item === line)).toHaveLength(6);
    const all = await session.getItems();
    const calls = all.flatMap((item) => (item.type === "function_call" ? [item.callId] : []));
    expect(new Set(calls).size).toBe(12);
  });

  it("end with NOT_FOUND where the conversation is deleted meanwhile, and nothing of it comes back", async () => {
    const session = sessionOf();
    const other = sessionOf();
    await run(worker().agent, "Before.", over(session));
    const model = modelOf([calling("deleting")], [saying("Done.")]);
    const deleting = toolOf("deleting", () => session.memory.clear());
    expect(await codeOf(run(agentOf(model, deleting), "Do it.", over(session)))).toBe("NOT_FOUND");
    expect(await recorded(session)).toEqual([]);
    expect(await recorded(other)).toEqual([]);
  });

  it("end with NOT_FOUND where the session itself is cleared meanwhile, in a tool or in the model", async () => {
    for (const before of [true, false]) {
      const session = sessionOf();
      const clear = () => session.clearSession();
      const inTool = agentOf(modelOf([calling("clearing")], [saying("Done.")]), toolOf("clearing", clear));
      const inModel = agentOf(
        modelOf(
          modelResponder(async () => {
            await clear();
            return [saying("Done.")];
          }),
        ),
      );
      for (const agent of [inTool, inModel]) {
        if (before) await run(worker().agent, "Before.", over(session));
        expect(await codeOf(run(agent, "Do it.", over(session)))).toBe("NOT_FOUND");
        expect(await recorded(session)).toEqual([]);
      }
      await run(worker().agent, "Do it.", over(session));
      expect(await recorded(session)).toEqual(["user: Do it.", ...worked]);
    }
  });

  it("store the same question again, with the hook or without, where the first has failed", async () => {
    const session = sessionOf();
    const failing = agentOf(modelOf(modelError(new Error("overloaded"))));
    await expect(run(failing, "Do it.", over(session))).rejects.toThrow("overloaded");
    await run(worker().agent, "Do it.", { session });
    expect(await recorded(session)).toEqual(["user: Do it.", "user: Do it.", ...worked]);
    await run(worker().agent, "Do it.", over(session));
    expect((await recorded(session)).slice(7)).toEqual(["user: Do it.", ...worked]);
  });

  it("store nothing twice where others go on between what a run reads and its first model call", async () => {
    for (const said of [["first"], []]) {
      const memories = memoriesOf();
      const other = sessionOf(memories);
      const session = sessionOf(memories);
      await other.addItems([{ role: "user", content: "Do it." }]);
      const read = session.getItems.bind(session);
      session.getItems = async (...args) => {
        const items = await read(...args);
        if (said.length > 0) await other.addItems([calling(said.pop() as string), saying("Done.")]);
        return items;
      };
      await run(worker().agent, "And I?", over(session));
      const lines = await recorded(other);
      expect(lines.filter((line) => line === "user: Do it.")).toHaveLength(1);
      expect(lines.slice(-6)).toEqual(["user: And I?", ...worked]);
    }
  });

  it("end with NOT_FOUND where the question is taken back meanwhile", async () => {
    const session = sessionOf();
    const model = modelOf([calling("undoing")], [saying("Done.")]);
    const undoing = toolOf("undoing", async () => void (await session.popItem()));
    expect(await codeOf(run(agentOf(model, undoing), "Do it.", over(session)))).toBe("NOT_FOUND");
  });
});

it("keeps a compaction that the model makes, and what stands behind it", async () => {
  const compaction = { type: "compaction", encrypted_content: "gAAAA" } as const;
  const session = sessionOf();
  await run(worker().agent, "Before.", over(session));
  const model = modelOf([compaction, calling("first")], [saying("Done.")]);
  await run(agentOf(model, toolOf("first")), "Do it.", over(session));
  const after = ["compaction", "[first]", "(first done)", "assistant: Done."];
  expect(await recorded(session)).toEqual(after);
  expect(prompts(model)[1]?.slice(0, 3)).toEqual(["compaction", "[first]", "(first done)"]);
  const next = worker();
  await run(next.agent, "Go on", over(session));
  expect(prompts(next.model)[0]).toEqual([...after, "user: Go on"]);
});

it("keeps what others have said while the run was under way, behind the compaction", async () => {
  const compaction = { type: "compaction", encrypted_content: "gAAAA" } as const;
  const memories = memoriesOf();
  const session = sessionOf(memories);
  const other = (content: string) => sessionOf(memories).addItems([{ role: "user", content }]);
  const model = modelOf(
    [calling("first")],
    modelResponder(async () => {
      await other("And this?");
      return [compaction, saying("Done.")];
    }),
  );
  await run(worker().agent, "Before.", over(session));
  await run(agentOf(model, toolOf("first")), "Do it.", over(session));
  expect(await recorded(session)).toEqual(["compaction", "assistant: Done.", "user: And this?"]);
});

describe.each(["the same session", "another session"])("a run beside one that compacts, over %s", (which) => {
  const compaction = { type: "compaction", encrypted_content: "gAAAA" } as const;
  const thought: AgentOutputItem = {
    type: "reasoning",
    id: "rs_1",
    content: [{ type: "input_text", text: "Hm." }],
  };

  /** Runs an agent with a tool that ends once the other run, which began before, has put a compaction in place of the record. */
  async function beside(question: string, ...answers: Parameters<typeof modelOf>) {
    const memories = memoriesOf();
    const session = sessionOf(memories);
    const own = which === "the same session" ? session : sessionOf(memories);
    await run(worker().agent, "Before.", over(session));
    const { opened: isCompacted, open: compacted } = gate();
    const { opened: hasBegun, open: begin } = gate();
    const model = modelOf([thought, calling("first")], [calling("waiting")], ...answers);
    const waiting = toolOf("waiting", async () => {
      begin();
      await isCompacted;
      return "waited";
    });
    let ended: Promise<unknown> = Promise.resolve();
    const compacting = modelOf(
      [calling("first")],
      modelResponder(async () => {
        ended = run(agentOf(model, toolOf("first"), waiting, toolOf("second")), question, over(own));
        await hasBegun;
        return [compaction, saying("Done.")];
      }),
    );
    await run(agentOf(compacting, toolOf("first")), "Do it.", over(session));
    compacted();
    await ended;
    return { session, model };
  }

  it("goes on with its question where the compaction has put it", async () => {
    const { session, model } = await beside("And this?", [calling("second")], [saying("Seen.")]);
    const step = ["reasoning", "[first]", "(first done)", "[waiting]", "(waited)"];
    const said = ["compaction", "assistant: Done.", "user: And this?", ...step];
    expect(prompts(model).slice(2)).toEqual([said, [...said, "[second]", "(second done)"]]);
    expect(await recorded(session)).toEqual([...said, "[second]", "(second done)", "assistant: Seen."]);
    // With the ids that the provider knows.
    const idsOf = (items: AgentInputItem[]) =>
      items.flatMap((item) => (item.type === "function_call" ? [item.id?.slice(0, 3)] : []));
    expect(idsOf(model.calls[2]?.request.input as AgentInputItem[])).toEqual(["fc_", "fc_"]);
    expect(idsOf(await session.memory.messages())).toEqual(["fc_", "fc_", "fc_"]);
  });

  it("does not say it once more behind a compaction of its own", async () => {
    const { session } = await beside("And this?", [{ ...compaction }, saying("Seen.")]);
    const others = ["compaction", "assistant: Done."];
    expect(await recorded(session)).toEqual(["compaction", "assistant: Seen.", ...others]);
  });
});

const resultOf = (
  { callId, name }: Extract<AgentInputItem, { type: "function_call" }>,
  output: string,
): AgentInputItem => ({ type: "function_call_result", callId, name, status: "completed", output });

/** What a run has stored before a guardrail looks at what its tool has said. */
async function stored(session: ReturnType<typeof sessionOf>, context: RunContext) {
  const question: AgentInputItem = { role: "user", content: "Do it." };
  const call = calling("first") as Extract<AgentInputItem, { type: "function_call" }>;
  const result = (output: string) => resultOf(call, output);
  const modelData = { input: [question, call, result("A secret.")] };
  await session.modelInput({ modelData, agent: {} as never, context: context.context });
  return { question, call, result };
}

it("takes a guardrail's words also where another run has compacted since", async () => {
  const memories = memoriesOf();
  const [session, other] = [sessionOf(memories), sessionOf(memories)];
  const [context, others] = [new RunContext(), new RunContext()];
  await other.getItems(undefined, others);
  await session.getItems(undefined, context);
  const { question, call, result } = await stored(session, context);
  await other.replaceHistoryWithCompaction([{ type: "compaction", encrypted_content: "gAAAA" }], others);
  await session.addItems([question, call, result("Blocked."), saying("Done.")], context);
  const said = ["compaction", "user: Do it.", "[first]", "(Blocked.)", "assistant: Done."];
  expect(await recorded(session)).toEqual(said);
});

it("takes the words that a guardrail has put in the place of what was stored", async () => {
  // Also of what has left the window since.
  for (const maxMessages of [500, 3]) {
    const memories = memoriesOf({ maxMessages });
    const session = sessionOf(memories);
    const context = new RunContext();
    await session.getItems(undefined, context);
    const { question, call, result } = await stored(session, context);
    const others = ["a", "b", "c"];
    await sessionOf(memories).addItems(others.map((content) => ({ role: "user", content })));
    const answer = saying("Done.");
    await session.addItems([question, call, result("Blocked."), answer], context);
    const said = ["user: Do it.", "[first]", "(Blocked.)", ...others.map((text) => `user: ${text}`)];
    expect(await recorded(session)).toEqual([...said, "assistant: Done."]);
    // The application's own are stored as they are.
    await session.addItems([question]);
    expect(await recorded(session)).toHaveLength(8);
  }
});

it("stores nothing twice where a filter of the application's own calls the hook, with copies", async () => {
  for (const context of [undefined, { user: "ann" }]) {
    const session = sessionOf();
    const said: string[] = [];
    for (const question of ["One", "Two", "Two"]) {
      const { model, agent } = worker();
      await run(agent, question, {
        session,
        ...(context === undefined ? {} : { context }),
        callModelInputFilter: async (args) => session.modelInput(args as never),
      });
      said.push(`user: ${question}`, ...worked);
      expect(prompts(model)[2]).toEqual(said.slice(0, -1));
      expect(await recorded(session)).toEqual(said);
    }
  }
});

it("stores what the application adds in a run of which a filter has copied all items by then", async () => {
  const session = sessionOf();
  const question: AgentInputItem = { role: "user", content: "Two" };
  await session.addItems([{ role: "user", content: "One" }]);
  const runContext = new RunContext({ user: "ann" });
  const input = [...(await session.getItems(undefined, runContext)), question];
  const ask = (items: AgentInputItem[]) =>
    session.modelInput({ modelData: { input: items }, agent: {} as never, context: runContext.context });
  await ask(input);
  await ask(structuredClone(input));
  await session.addItems([question]);
  const said = ["user: One", "user: Two", "user: Two"];
  expect(await recorded(session)).toEqual(said);
  await session.addItems([question, saying("Done.")], runContext);
  expect(await recorded(session)).toEqual([...said, "assistant: Done."]);
});

/** A session around another, which passes no context on. */
function around(inner: Session): Session {
  return {
    getSessionId: () => inner.getSessionId(),
    getItems: (limit) => inner.getItems(limit),
    addItems: (items) => inner.addItems(items),
    popItem: () => inner.popItem(),
    clearSession: () => inner.clearSession(),
  };
}

it("goes on where a session around it, which passes no context on, clears to put other items in", async () => {
  for (const before of [true, false]) {
    const inner = sessionOf();
    const session = around(inner);
    if (before) await run(worker().agent, "Before.", { session, callModelInputFilter: inner.modelInput });
    const compacting = toolOf("compacting", async () => {
      const items = await inner.getItems();
      await session.clearSession();
      await session.addItems(items);
    });
    const agent = agentOf(modelOf([calling("compacting")], [saying("Done.")]), compacting);
    await run(agent, "Do it.", { session, callModelInputFilter: inner.modelInput });
    expect((await recorded(inner)).at(-1)).toBe("assistant: Done.");
  }
});

it("stores nothing twice where a session around it passes no context on", async () => {
  const inner = sessionOf();
  const session = around(inner);
  for (const question of ["One", "Two"]) {
    await run(worker().agent, question, { session, callModelInputFilter: inner.modelInput });
  }
  expect(await recorded(inner)).toEqual(["user: One", ...worked, "user: Two", ...worked]);
});
