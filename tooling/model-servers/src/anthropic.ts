import type { BotAnswer, Conversation, Said } from "./bot.ts";
import { type ModelServer, type Received, type Reply, startServer } from "./server.ts";

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: Record<string, unknown>;
  readonly tool_use_id?: string;
  readonly content?: unknown;
}

interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}

/** Anthropic's Messages API under `/v1/messages`, for whoever has that key. */
export function anthropicServer(
  answer: (conversation: Conversation) => BotAnswer,
  key: string,
): Promise<ModelServer> {
  let count = 0;
  return startServer((request) => {
    const fault = faultOf(request, key);
    if (fault !== undefined) return fault;
    const said = (request.body.messages as Message[]).flatMap(saidIn);
    const tools = ((request.body.tools ?? []) as { name: string }[]).map(({ name }) => name);
    const choice = request.body.tool_choice as { type?: string } | undefined;
    return replyOf(request, answer({ said, tools: choice?.type === "none" ? [] : tools }), ++count);
  });
}

function blocksOf({ content }: Message): readonly Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** What the API answers with status 400 or 401. */
function faultOf({ path, headers, body }: Received, key: string): Reply | undefined {
  const error = (status: number, message: string, type = "invalid_request_error"): Reply => ({
    status,
    json: { type: "error", error: { type, message } },
  });
  if (path !== "/v1/messages") return error(404, `Not found: ${path}`, "not_found_error");
  // The API takes either; the newer clients of its own package send the second.
  const isKnown = headers["x-api-key"] === key || headers.authorization === `Bearer ${key}`;
  if (!isKnown) return error(401, "invalid x-api-key", "authentication_error");
  if (headers["anthropic-version"] === undefined) return error(400, "anthropic-version: header is required");
  const messages = body.messages as Message[] | undefined;
  if (!Array.isArray(messages) || messages.length === 0)
    return error(400, "messages: at least one message is required");
  if (typeof body.max_tokens !== "number") return error(400, "max_tokens: Field required");
  if (messages[0]?.role !== "user") return error(400, 'messages: first message must use the "user" role');
  if (messages.at(-1)?.role !== "user")
    return error(400, "This model does not support assistant message prefill.");
  for (const [index, message] of messages.entries()) {
    if (!["user", "assistant"].includes(message.role))
      return error(400, `messages.${index}.role: ${message.role}`);
    if (blocksOf(message).some(({ type, text }) => type === "text" && text === "")) {
      return error(400, "messages: text content blocks must be non-empty");
    }
    const made = usesOf(message.role === "assistant" ? message : undefined);
    const given = resultsOf(messages[index + 1]);
    const missing = made.filter((id) => !given.includes(id));
    if (missing.length > 0) {
      return error(
        400,
        `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}`,
      );
    }
    const asked = usesOf(messages[index - 1]);
    if (resultsOf(message).some((id) => !asked.includes(id))) {
      return error(400, `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks`);
    }
  }
  return undefined;
}

function usesOf(message: Message | undefined): string[] {
  const blocks = message?.role === "assistant" ? blocksOf(message) : [];
  return blocks.flatMap(({ type, id }) => (type === "tool_use" && id !== undefined ? [id] : []));
}

function resultsOf(message: Message | undefined): string[] {
  const blocks = message?.role === "user" ? blocksOf(message) : [];
  return blocks.flatMap(({ type, tool_use_id: id }) =>
    type === "tool_result" && id !== undefined ? [id] : [],
  );
}

function saidIn(message: Message): Said[] {
  const blocks = blocksOf(message);
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text ?? ""] : [])).join("");
  if (message.role === "assistant") {
    const calls = blocks.flatMap(({ type, name = "", input = {} }) =>
      type === "tool_use" ? [{ name, input }] : [],
    );
    return [{ by: "model", text, calls }];
  }
  const results = blocks.flatMap(({ type, content }): Said[] =>
    type === "tool_result" ? [{ by: "tool", text: String(content) }] : [],
  );
  return text === "" ? results : [...results, { by: "user", text }];
}

function replyOf({ body }: Received, { text, calls }: BotAnswer, count: number): Reply {
  const content: Block[] = [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...calls.map(({ name, input }, index) => ({
      type: "tool_use",
      id: `toolu_${count}_${index}`,
      name,
      input,
    })),
  ];
  const stop = calls.length > 0 ? "tool_use" : "end_turn";
  const message = {
    id: `msg_${count}`,
    type: "message",
    role: "assistant",
    model: body.model,
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage: { input_tokens: 40, output_tokens: 8 },
  };
  if (body.stream !== true) return { json: message };
  const blocks = content.flatMap((block, index) => {
    const isText = block.type === "text";
    const whole = isText ? (block.text ?? "") : JSON.stringify(block.input);
    const pieces = whole.match(isText ? /\S+\s*/g : /.{1,4}/gs) ?? [];
    const delta = (piece: string): object =>
      isText ? { type: "text_delta", text: piece } : { type: "input_json_delta", partial_json: piece };
    return [
      {
        type: "content_block_start",
        index,
        content_block: isText ? { ...block, text: "" } : { ...block, input: {} },
      },
      ...pieces.map((piece) => ({ type: "content_block_delta", index, delta: delta(piece) })),
      { type: "content_block_stop", index },
    ];
  });
  const events: readonly { readonly type: string; readonly [member: string]: unknown }[] = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    ...blocks,
    {
      type: "message_delta",
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: 8 },
    },
    { type: "message_stop" },
  ];
  return { pieces: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`) };
}
