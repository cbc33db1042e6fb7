import { createChatMemory, type ModelMessage, modelMessageFormat } from "@turnkeep/core";
import { strict } from "@turnkeep/formats/profiles";
import {
  type ApprovalResponse,
  type ChatResult,
  createAssistant,
  isAssistantError,
  type Model,
  tool,
} from "../src/index.ts";
import { type Ask, question, questionId, ticking } from "./crash-turn.ts";
import { assistant, calling } from "./script.ts";

/** What a client keeps that outlives the processes which it asks. */
export interface Client {
  /** By call, once it knows them. */
  approvalIds?: Readonly<Record<string, string>>;
  /** How many of its decisions were answered. */
  decided: number;
}

export interface Approve extends Ask {
  readonly client: Client;
  /** Called when `client` has changed. */
  readonly onAnswer: () => void;
}

const decisions: readonly (readonly [string, boolean])[] = [
  ["call-room", true],
  ["call-mail", false],
];

/**
 * A turn with three calls, of which two wait for the user, who decides one after the other. A client goes on with the
 * request that was not answered.
 */
export async function approve(setting: Approve): Promise<ChatResult<ModelMessage>> {
  const { store, tick, onRun, idempotent, isShaped, requests, leaseMs = 100, client, onAnswer } = setting;
  const memory = createChatMemory({
    id: "chat",
    store: ticking(store, tick),
    window: { maxMessages: 50 },
    profile: isShaped ? strict : undefined,
  });
  const isApproved = async (callId: string): Promise<boolean> => {
    const { messages } = await createChatMemory({ id: "chat", store }).history();
    const approvals = messages.flatMap(({ message }) => modelMessageFormat.approvals(message));
    const asked = approvals.find((each) => each.kind === "request" && each.toolCallId === callId);
    return approvals.some(({ kind, approvalId }) => kind === "response" && approvalId === asked?.approvalId);
  };
  const execute = async (_: unknown, { toolCallId }: { readonly toolCallId: string }): Promise<string> => {
    await tick(`before ${toolCallId}`);
    const mayRun = toolCallId === "call-taxi" || (await isApproved(toolCallId));
    onRun(mayRun ? toolCallId : `${toolCallId} without approval`);
    await tick(`behind ${toolCallId}`);
    return `result of ${toolCallId}`;
  };
  const free = tool({ inputSchema: {}, idempotent, execute });
  const asking = tool({
    inputSchema: {},
    idempotent,
    execute,
    needsApproval: async () => {
      await tick("needsApproval");
      return true;
    },
  });
  const tools = { room: asking, taxi: free, mail: asking };
  const chat = createAssistant({
    model: agent(tick, requests),
    memory,
    tools,
    systemMessage: "Be kind.",
    leaseMs,
  });
  let result: ChatResult<ModelMessage> | undefined;
  let { approvalIds } = client;
  if (approvalIds === undefined) {
    result = await chat.chat(question, { id: questionId });
    const ids = result.approvalRequests.map(({ call, approvalId }) => [call.id, approvalId]);
    approvalIds = Object.fromEntries(ids) as Record<string, string>;
    client.approvalIds = approvalIds;
    onAnswer();
  }
  for (const [n, [callId, approved]] of decisions.entries()) {
    if (n < client.decided) continue;
    const response: ApprovalResponse = { approvalId: approvalIds[callId] as string, approved };
    const decide = () => chat.chat({ approvals: [response] }, { id: questionId });
    result = await decide().catch(async (error: unknown) => {
      if (!isAssistantError(error, "BUSY")) throw error;
      // The client knows that the process which it asked before is dead.
      await chat.chat(question, { id: questionId });
      return decide();
    });
    // One that died by the renewal of its lease may still hear an answer, after the next process has asked.
    client.decided = Math.max(client.decided, n + 1);
    onAnswer();
  }
  return result ?? chat.chat(question, { id: questionId });
}

function agent(tick: Ask["tick"], requests: ModelMessage[][]): Model<ModelMessage> {
  return async ({ messages }) => {
    requests.push(structuredClone(messages) as ModelMessage[]);
    await tick("before the model");
    const isAnswered = messages.some(({ role }) => role === "tool");
    await tick("behind the model");
    return {
      message: isAnswered
        ? assistant("Done.")
        : calling(["call-room", "room"], ["call-taxi", "taxi"], ["call-mail", "mail"]),
    };
  };
}
