import { InMemoryStore } from "@mastra/core/storage";
import { Memory } from "@mastra/memory";

/** What somebody gets who names Ann's thread and nothing else. */
export async function byIdAlone() {
  const memory = new Memory({ storage: new InMemoryStore() });
  const at = { createdAt: new Date(), updatedAt: new Date() };
  await memory.saveThread({
    thread: { id: "ann-1", resourceId: "ann", title: "Ann's", metadata: {}, ...at },
  });
  const content = { format: 2, parts: [{ type: "text", text: "Hello" }] };
  const message = { id: "m-1", threadId: "ann-1", resourceId: "ann", role: "user", content, ...at };
  await memory.saveMessages({ messages: [message] });
  const { messages } = await memory.recall({ threadId: "ann-1" });
  await memory.deleteThread("ann-1");
  return {
    read: messages.length,
    left: (await memory.getThreadById({ threadId: "ann-1" })) === null ? 0 : 1,
  };
}
