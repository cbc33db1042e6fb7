import { Peer } from "../peers.ts";
import type { Contender, Conversation, Opened } from "./contenders.ts";

/** What `window.mjs` in a peer's folder exports. */
interface WindowModule {
  open(conversation: Conversation & { readonly mode?: string | undefined }): Opened;
}

export const peers: readonly Peer[] = ["mastra", "langchain", "llamaindex"].map((name) => new Peer(name));

/** The peers in the ways in which they can be used. */
export async function peerContenders(): Promise<Contender[]> {
  for (const peer of peers) peer.install();
  const [mastra, langchain, llamaindex] = await Promise.all(
    peers.map((peer) => peer.load<WindowModule>("window.mjs")),
  );
  const contender = (name: string, module: WindowModule | undefined, mode?: string): Contender => ({
    name,
    open(conversation) {
      if (module === undefined) throw new Error(`${name} has not been loaded`);
      return module.open({ ...conversation, mode });
    },
  });
  return [
    contender("mastra, best-fit", mastra, "best-fit"),
    contender("mastra, contiguous", mastra, "contiguous"),
    contender("langchain, memoised", langchain, "memoised"),
    contender("langchain, stopping", langchain, "stopping"),
    contender("llamaindex", llamaindex),
  ];
}
