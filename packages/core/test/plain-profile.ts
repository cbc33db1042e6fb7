import type { ProviderProfile } from "../src/index.ts";

/** A profile that takes every message as it is. */
export const plain: ProviderProfile = {
  name: "plain",
  firstMessage: "any",
  reasoning: "any",
  shape: (messages) => ({ messages: [...messages], stages: [] }),
};
