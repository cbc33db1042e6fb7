import { Peer } from "../peers.ts";
import { cachedWith, type Sliding } from "./sliding.ts";

/** Something that the README says of another library. */
export interface Claim {
  readonly what: string;
  readonly package: string;
  /** Where it was read. */
  readonly source: string;
}

/** A claim that a library in JavaScript can be asked about. */
export interface Rerun extends Claim {
  readonly peer: Peer;
  /** What is there now, and whether it is what the README says. */
  run(): Promise<{ readonly holds: boolean; readonly seen: string }>;
}

/** A claim about a library that does not run here; it was read in this release. */
export interface Read extends Claim {
  readonly release: string;
  readonly runsOn: string;
}

interface LangChain {
  trimmed(): Promise<string[][]>;
  sliding: Sliding;
}

interface MastraCore {
  afterALargeResult(): Promise<string[]>;
  sliding: Sliding;
}

interface MastraMemory {
  byIdAlone(): Promise<{ readonly read: number; readonly left: number }>;
}

interface OpenAIAgents {
  compactedWhileAnotherWrites(): Promise<string[]>;
}

const langchain = new Peer("langchain");
const mastra = new Peer("mastra");
const mastraMemory = new Peer("start-mastra");
const openaiAgents = new Peer("openai-agents");
const file = "elsewhere.mjs";
const springDocs = "https://docs.spring.io/spring-ai/reference/api/chat-memory.html";

export const reruns: readonly Rerun[] = [
  {
    what: "trimming cuts a tool call from its result",
    package: "@langchain/core",
    source: "https://github.com/langchain-ai/langchain/issues/33245",
    peer: langchain,
    async run() {
      const lists = await (await langchain.load<LangChain>(file)).trimmed();
      const cut = lists.find(([first]) => first === "tool");
      return { holds: cut !== undefined, seen: cut?.join(" ") ?? "no list begins with a result" };
    },
  },
  {
    what: "a limiter drops the call that the model waits for",
    package: "@mastra/core",
    source: "https://github.com/mastra-ai/mastra/issues/24110",
    peer: mastra,
    async run() {
      const roles = await (await mastra.load<MastraCore>(file)).afterALargeResult();
      return { holds: !roles.includes("tool"), seen: `sent: ${roles.join(" ")}` };
    },
  },
  {
    what: "a sliding window gets nearly nothing from the prompt cache",
    package: "@langchain/core",
    source: "https://github.com/openclaw/openclaw/issues/115273",
    peer: langchain,
    run: async () => cachedWith((await langchain.load<LangChain>(file)).sliding),
  },
  {
    what: "a sliding window gets nearly nothing from the prompt cache",
    package: "@mastra/core",
    source: "https://mastra.ai/docs/memory/message-history",
    peer: mastra,
    run: async () => cachedWith((await mastra.load<MastraCore>(file)).sliding),
  },
  {
    what: "a summary deletes what another process wrote meanwhile",
    package: "@openai/agents-openai",
    source: "https://github.com/openai/openai-agents-python/issues/4679",
    peer: openaiAgents,
    async run() {
      const texts = await (await openaiAgents.load<OpenAIAgents>(file)).compactedWhileAnotherWrites();
      return { holds: !texts.includes("From the other process"), seen: `stored: ${texts.join(", ")}` };
    },
  },
  {
    what: "who names a conversation reads and deletes it",
    package: "@mastra/memory",
    source: "https://mastra.ai/docs/memory/message-history",
    peer: mastraMemory,
    async run() {
      const { read, left } = await (await mastraMemory.load<MastraMemory>(file)).byIdAlone();
      return { holds: read > 0 && left === 0, seen: `${read} of 1 message read, ${left} of 1 thread left` };
    },
  },
];

export const read: readonly Read[] = [
  {
    what: "tool messages are dropped in silence",
    package: "Spring AI, JdbcChatMemoryRepository",
    release: "2.0.1",
    runsOn: "JVM",
    source: springDocs,
  },
  {
    what: "what leaves the window is deleted from the database",
    package: "Spring AI, MessageWindowChatMemory",
    release: "2.0.1",
    runsOn: "JVM",
    source: "https://github.com/spring-projects/spring-ai/issues/7029",
  },
  {
    what: "two requests at once corrupt the memory",
    package: "LangChain4j, AI Services",
    release: "1.19.0",
    runsOn: "JVM",
    source: "https://docs.langchain4j.dev/tutorials/ai-services",
  },
];
