import type { BotAnswer, Conversation, Said } from "./bot.ts";
import { type ModelServer, type Received, type Reply, startServer } from "./server.ts";

interface ChatMessage {
  readonly role: string;
  readonly content?: string | null | readonly { readonly type: string; readonly text?: string }[];
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

/** OpenAI's Chat Completions protocol under `/v1/chat/completions`, for whoever has that key. */
export function openaiServer(
  answer: (conversation: Conversation) => BotAnswer,
  key: string,
): Promise<ModelServer> {
  let count = 0;
  return startServer((request) => {
    const fault = faultOf(request, key);
    if (fault !== undefined) return fault;
    const said = (request.body.messages as ChatMessage[]).flatMap(saidIn);
    const tools = ((request.body.tools ?? []) as { function: { name: string } }[]).map(
      (each) => each.function.name,
    );
    const offered = request.body.tool_choice === "none" ? [] : tools;
    return replyOf(request, answer({ said, tools: offered }), `${++count}`);
  });
}

/** What the API answers with status 400 or 401, in its own words where it is known for them. */
function faultOf({ path, headers, body }: Received, key: string): Reply | undefined {
  const error = (status: number, message: string, code: string | null = null): Reply => ({
    status,
    json: { error: { message, type: "invalid_request_error", param: null, code } },
  });
  if (path !== "/v1/chat/completions") return error(404, `Invalid URL (POST ${path})`);
  if (headers.authorization !== `Bearer ${key}`) {
    return error(401, `Incorrect API key provided: ${headers.authorization}.`, "invalid_api_key");
  }
  const messages = body.messages as ChatMessage[] | undefined;
  if (typeof body.model !== "string") return error(400, "you must provide a model parameter");
  if (!Array.isArray(messages) || messages.length === 0) return error(400, "[] is too short - 'messages'");
  let open = new Set<string>();
  for (const { role, tool_calls: calls, tool_call_id: answered = "" } of messages) {
    if (role === "tool") {
      if (!open.delete(answered)) {
        return error(
          400,
          "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
        );
      }
      continue;
    }
    if (open.size > 0) break;
    if (calls?.length === 0) return error(400, "[] is too short - 'messages.tool_calls'");
    open = new Set(calls?.map(({ id }) => id));
  }
  if (open.size === 0) return undefined;
  const missing = `the following tool_call_ids did not have response messages: ${[...open].join(", ")}`;
  return error(400, `An assistant message with 'tool_calls' must be followed by tool messages; ${missing}`);
}

function saidIn({ role, content, tool_calls: calls = [] }: ChatMessage): Said[] {
  const text =
    typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
  if (role === "user") return [{ by: "user", text }];
  if (role === "tool") return [{ by: "tool", text }];
  if (role !== "assistant") return [];
  const made = calls.map((call) => ({
    name: call.function.name,
    input: JSON.parse(call.function.arguments) as Record<string, unknown>,
  }));
  return [{ by: "model", text, calls: made }];
}

function replyOf({ body }: Received, { text, calls }: BotAnswer, count: string): Reply {
  const toolCalls = calls.map(({ name, input }, index) => ({
    id: `call_${count}_${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const finish = calls.length > 0 ? "tool_calls" : "stop";
  const usage = { prompt_tokens: 40, completion_tokens: 8, total_tokens: 48 };
  const common = { id: `chatcmpl-${count}`, created: 0, model: body.model };
  if (body.stream !== true) {
    const message = {
      role: "assistant",
      content: calls.length > 0 ? null : text,
      ...(calls.length > 0 ? { tool_calls: toolCalls } : {}),
    };
    return {
      json: {
        ...common,
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason: finish }],
        usage,
      },
    };
  }
  const chunk = (delta: object, finish_reason: string | null = null): object => ({
    ...common,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const words = text.match(/\S+\s*/g) ?? [];
  const chunks = [
    chunk({ role: "assistant", content: calls.length > 0 ? null : "" }),
    ...words.map((word) => chunk({ content: word })),
    ...toolCalls.flatMap(({ function: { name, arguments: input }, ...call }, index) => [
      chunk({ tool_calls: [{ index, ...call, function: { name, arguments: "" } }] }),
      ...(input.match(/.{1,4}/gs) ?? []).map((piece) =>
        chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
    chunk({}, finish),
    ...((body.stream_options as { include_usage?: boolean } | undefined)?.include_usage === true
      ? [{ ...common, object: "chat.completion.chunk", choices: [], usage }]
      : []),
  ];
  return { pieces: [...chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`), "data: [DONE]\n\n"] };
}
