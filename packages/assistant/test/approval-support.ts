import {
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
  type ProviderProfile,
  user,
} from "@turnkeep/core";
import {
  type ApprovalResponse,
  type Assistant,
  type AssistantPolicy,
  type ChatResult,
  createAssistant,
  type Tools,
  tool,
} from "../src/index.ts";
import { type Answer, calling, type ScriptedModel, scripted, unheld } from "./script.ts";

/** A conversation whose processes come and go. */
export interface Conversation {
  readonly store: ChatMemoryStore;
  /** The calls that tools have run, by id. */
  readonly runs: string[];
  /** A process of its own, with a model that gives these answers. */
  readonly process: (...answers: readonly Answer[]) => Process;
}

export interface Process {
  readonly memory: ChatMemory<ModelMessage>;
  readonly model: ScriptedModel;
  readonly chat: Assistant<ModelMessage>;
}

/** Everything about a conversation that a test may choose. */
interface Choice extends Partial<Omit<AssistantPolicy<ModelMessage>, "model">> {
  readonly store?: ChatMemoryStore;
  readonly profile?: ProviderProfile | undefined;
  /** `false`: nothing keeps the turns of two processes apart. */
  readonly isHeld?: boolean;
}

/** `pay` and `send` wait for the user, `look` does not. */
export function conversation({
  store = inMemoryStore(),
  profile,
  isHeld = true,
  ...policy
}: Choice = {}): Conversation {
  const runs: string[] = [];
  const execute = (_: unknown, { toolCallId }: { readonly toolCallId: string }): string => {
    runs.push(toolCallId);
    return `result of ${toolCallId}`;
  };
  const tools: Tools = {
    pay: tool({ inputSchema: {}, needsApproval: true, execute }),
    send: tool({ inputSchema: {}, needsApproval: true, execute }),
    look: tool({ inputSchema: {}, execute }),
    ...policy.tools,
  };
  return {
    store,
    runs,
    process: (...answers) => {
      const opened = createChatMemory({ id: "chat", store, profile });
      const memory = isHeld ? opened : unheld(opened);
      const model = scripted(...answers);
      return {
        memory,
        model,
        chat: createAssistant({ toolConcurrency: 1, ...policy, tools, memory, model }),
      };
    },
  };
}

/** Calls two tools that wait for the user, and one between them that does not. */
export const asking: ModelMessage = calling(
  ["c-pay", "pay", { amount: 90 }],
  ["c-look", "look"],
  ["c-send", "send"],
);

export const question: ModelMessage = user("Go");
export const id = "q-1";

/** The decision about the waiting call with that id. */
export function decision(
  { approvalRequests }: ChatResult<ModelMessage>,
  callId: string,
  approved: boolean,
  reason?: string,
): ApprovalResponse {
  const request = approvalRequests.find(({ call }) => call.id === callId);
  if (request === undefined) throw new Error(`${callId} does not wait`);
  return { approvalId: request.approvalId, approved, ...(reason === undefined ? {} : { reason }) };
}

/** The same decision about all of them. */
export function all(
  { approvalRequests }: ChatResult<ModelMessage>,
  approved: boolean,
): readonly ApprovalResponse[] {
  return approvalRequests.map(({ approvalId }) => ({ approvalId, approved }));
}

/** The decisions as a process leaves them that dies right behind. */
export function decided(responses: readonly ApprovalResponse[]): ModelMessage {
  return {
    role: "tool",
    content: responses.map(({ approvalId, approved }) => ({
      type: "tool-approval-response",
      approvalId,
      approved,
    })),
  };
}

/** What the messages answer to the call, by its outputs. */
export function outputsOf(messages: readonly ModelMessage[], callId: string): unknown[] {
  return messages.flatMap(({ role, content }) =>
    role === "tool"
      ? content.flatMap((part) =>
          part.type === "tool-result" && part.toolCallId === callId ? [part.output] : [],
        )
      : [],
  );
}
