import type { CodedStore } from "../memory-settings.ts";

function asked(): never {
  throw new TypeError("A view of a list asks no store.");
}

/** In place of a store, for a list that somebody else keeps: it is decided on like a new memory with history, and never asked. */
export const noStore: CodedStore = {
  capabilities: {
    durable: false,
    shared: false,
    history: true,
    list: false,
    newest: false,
    ttl: false,
    delta: false,
    readSteps: 1,
    maxMessageBytes: Number.MAX_SAFE_INTEGER,
  },
  neverWaits: () => true,
  getMessages: asked,
  updateMessages: asked,
  deleteMessages: asked,
  getHistory: asked,
  listMemories: asked,
};
