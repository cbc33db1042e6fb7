import type { CallOptions, ChatMemoryStore, MemoryUpdate } from "@turnkeep/core";

/** Every call that a store takes by what it declares, but for `close`. */
export function everyCall(
  store: ChatMemoryStore,
  memoryId: string,
  update: MemoryUpdate,
  options?: CallOptions,
): readonly (readonly [method: string, call: () => Promise<unknown>])[] {
  const { history, list } = store.capabilities;
  return [
    ["getMessages", () => store.getMessages(memoryId, options)],
    ["updateMessages", () => store.updateMessages(memoryId, update, options)],
    ["deleteMessages", () => store.deleteMessages(memoryId, options)],
    ["sweep", () => store.sweep(options)],
    ...(history ? [["getHistory", () => store.getHistory(memoryId, {}, options)] as const] : []),
    ...(list ? [["listMemories", () => store.listMemories({}, options)] as const] : []),
  ];
}
