import { type ChatMemoryStore, TurnkeepError } from "../src/index.ts";

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

/** A store whose first update is made; then something happens, and its answer is lost. */
export function losing(
  store: ChatMemoryStore,
  meanwhile: () => Promise<unknown> = async () => {},
): ChatMemoryStore {
  let isLost = false;
  return {
    ...store,
    updateMessages: async (id, update, options) => {
      await store.updateMessages(id, update, options);
      if (isLost) return;
      isLost = true;
      await meanwhile();
      throw new TurnkeepError("STORE_UNAVAILABLE", "the answer was lost");
    },
  };
}
