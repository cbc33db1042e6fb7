import fc from "fast-check";
import { expect, it } from "vitest";
import {
  assistant,
  createChatMemory,
  entry,
  type ModelMessage,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";

type Kind = "user" | "answer" | "call" | "instruction" | "prompt";

/** What is said at once; each message has a text of its own. */
function saidAs(kind: Kind, number: number): ModelMessage[] {
  const text = `${kind} ${number}`;
  switch (kind) {
    case "user":
      return [user(text)];
    case "answer":
      return [assistant(text)];
    case "call":
      return [toolCall(text, "look", {}), toolResult(text, "look", "found")];
    default:
      return [system(text)];
  }
}

const kinds = fc.array(fc.constantFrom<Kind>("user", "answer", "call", "instruction", "prompt"), {
  minLength: 1,
  maxLength: 30,
});

it("an instruction is shown exactly where and while the step behind it is, and nothing is lost", async () => {
  await fc.assert(
    fc.asyncProperty(
      kinds,
      fc.constantFrom("step" as const, "turn" as const),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(1, 0.5),
      async (conversation, unit, maxMessages, target) => {
        const memory = createChatMemory({
          systemMessages: "positioned",
          window: { maxMessages, unit, target, overflow: "keep" },
        });
        const said: { readonly id: string; readonly step: number; readonly message: ModelMessage }[] = [];
        let prompt: string | undefined;
        let step = 0;
        for (const [number, kind] of conversation.entries()) {
          for (const [at, message] of saidAs(kind, number).entries()) {
            const id = `${number}-${at}`;
            if (kind === "prompt") {
              await memory.instruct(entry(message, { id }));
              prompt = id;
              continue;
            }
            await memory.add(entry(message, { id }));
            if (kind === "instruction" && prompt === undefined && said.length === 0) prompt = id;
            else said.push({ id, step, message });
          }
          // An instruction belongs to the step behind it.
          if (kind !== "instruction" && kind !== "prompt") step++;
          const { messages } = await memory.explain();
          const shown = messages.flatMap(({ id, state }) => (state === "shown" ? [id as string] : []));
          expect(shown[0] === prompt || prompt === undefined).toBe(true);
          const rest = new Set(prompt === undefined ? shown : shown.slice(1));
          const steps = new Set(said.flatMap(({ id, step }) => (rest.has(id) ? [step] : [])));
          expect(shown.filter((id) => id !== prompt)).toEqual(
            said.filter((one) => steps.has(one.step)).map(({ id }) => id),
          );
          const history = await memory.history({ limit: 1000, states: ["live", "evicted"] });
          expect(history.messages.map(({ id }) => id).filter((id) => id !== prompt)).toEqual(
            said.map(({ id }) => id),
          );
        }
      },
    ),
  );
});
