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
export function losing(store: ChatMemoryStore, meanwhile?: () => Promise<unknown>): ChatMemoryStore {
  return failingOnce(store, true, meanwhile);
}

/** A store whose first update never arrives; something happens meanwhile, and the answer is the same. */
export function refusing(store: ChatMemoryStore, meanwhile?: () => Promise<unknown>): ChatMemoryStore {
  return failingOnce(store, false, meanwhile);
}

function failingOnce(
  store: ChatMemoryStore,
  isMade: boolean,
  meanwhile: () => Promise<unknown> = async () => {},
): ChatMemoryStore {
  let hasFailed = false;
  return {
    ...store,
    updateMessages: async (...given) => {
      const isFirst = !hasFailed;
      hasFailed = true;
      if (isMade || !isFirst) await store.updateMessages(...given);
      if (!isFirst) return;
      await meanwhile();
      throw new TurnkeepError("STORE_UNAVAILABLE", "the answer was lost");
    },
  };
}
