import { describe, expect, test } from "vitest";
import {
  type ChatMemory,
  createChatMemory,
  entry,
  inMemoryStore,
  type ModelMessage,
  user,
} from "../src/index.ts";

/** Two processes that have the same conversation, with one message. */
async function processes(): Promise<readonly [ChatMemory<ModelMessage>, ChatMemory<ModelMessage>]> {
  const store = inMemoryStore();
  const open = (): ChatMemory<ModelMessage> => createChatMemory({ id: "m", store });
  const [one, other] = [open(), open()];
  await one.add(entry(user("Old"), { id: "q" }));
  return [one, other];
}

const texts = async (memory: ChatMemory<ModelMessage>): Promise<unknown[]> =>
  (await memory.messages()).map(({ content }) => content);

describe.each(["remove", "rewind"] as const)("%s with an anchor", (name) => {
  test("takes away what it was made for", async () => {
    const [memory, other] = await processes();
    const mustExist = await memory.anchor();
    await other.add(user("More"));
    await memory[name]("q", { mustExist });
    expect(await texts(other)).toEqual(name === "remove" ? ["More"] : []);
  });

  test("leaves a conversation that has begun anew, though it has a message of that id", async () => {
    const [memory, other] = await processes();
    const mustExist = await memory.anchor();
    await other.clear();
    await other.add(entry(user("New"), { id: "q" }));
    await expect(memory[name]("q", { mustExist })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await texts(other)).toEqual(["New"]);
  });

  test("leaves a message that has taken the place of the one it holds on to", async () => {
    const [memory, other] = await processes();
    const mustExist = await memory.anchor("q");
    await other.remove("q");
    await other.add(entry(user("Again"), { id: "q" }));
    await expect(memory[name]("q", { mustExist })).rejects.toMatchObject({
      code: "NOT_FOUND",
      details: { messageIds: ["q"] },
    });
    expect(await texts(other)).toEqual(["Again"]);
  });

  test("needs a memory that is there", async () => {
    const memory = createChatMemory();
    await expect(memory[name]("q", { mustExist: true })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(memory[name]("q", { mustExist: "yes" as never })).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
  });
});
