import type { ChatMemoryStore } from "../src/index.ts";

type Method = "getMessages" | "updateMessages" | "deleteMessages" | "getHistory" | "listMemories";

/** A store whose calls meet what `meet` throws, before or after they were made. */
export function meeting(
  store: ChatMemoryStore,
  meet: (method: Method, isMade: boolean) => unknown,
): ChatMemoryStore {
  const methods: Method[] = ["getMessages", "updateMessages", "deleteMessages", "getHistory", "listMemories"];
  const wrapped = methods.map((method) => [
    method,
    async (...given: never[]) => {
      await meet(method, false);
      const answer = await (store[method] as (...given: never[]) => Promise<unknown>)(...given);
      await meet(method, true);
      return answer;
    },
  ]);
  return { ...store, ...Object.fromEntries(wrapped) };
}
