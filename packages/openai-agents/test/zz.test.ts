import { Agent, MemorySession, run, tool } from "@openai/agents-core";
import { ScriptedModel, assistantMessage, functionCall } from "@openai/agents-core/testing";
import { createChatMemories, inMemoryStore } from "@turnkeep/core";
import { it } from "vitest";
import { z } from "zod";
import { agentsFormat, TurnkeepSession } from "../src/index.ts";
const show = (items: readonly any[]) => items.map((i) => i.role ? `${i.role}: ${typeof i.content === "string" ? i.content : i.content.map((p: any) => p.text)}` : `${i.type} ${i.callId} ${i.id ?? ""}`);
it("x", async () => {
  const memories = createChatMemories({ store: inMemoryStore(), format: agentsFormat });
  const ts = new TurnkeepSession({ memories, sessionId: "a" });
  for (const session of [new MemorySession(), ts] as any[]) {
    const model = new ScriptedModel([
      [functionCall("one", {}, { callId: "c1", id: "fc1" }), functionCall("one", {}, { callId: "c2", id: "fc2" })],
      [assistantMessage("wait", ), functionCall("one", {}, { callId: "c3", id: "fc3" })],
      [assistantMessage("Done.")],
      [assistantMessage("Done.")],
    ]);
    const one = tool({ name: "one", description: "d", parameters: z.object({}), execute: () => "1" });
    const agent = new Agent({ name: "A", model, tools: [one] });
    const o = session === ts ? { session, callModelInputFilter: ts.modelInput } : { session };
    await run(agent, "hi", o);
    console.log(show(await session.getItems()));
    await run(agent, "hi", o);
    console.log(show(await session.getItems()));
    console.log(model.calls.map((c) => show(c.request.input as any)));
  }
});
