import { type ProfileRules, profileOf } from "./profile-of.ts";
import type { ProviderRule } from "./rules.ts";

const openaiChatApi = "https://platform.openai.com/docs/api-reference/chat/create";
const openaiResponsesApi = "https://platform.openai.com/docs/api-reference/responses/create";
const anthropicApi = "https://platform.claude.com/docs/en/api/messages";
const anthropicTools = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use";
const preservedThinking = "https://platform.claude.com/docs/build-with-claude/preserved-thinking";
const bedrockThinking =
  "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html";
const converseApi = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html";
const converseMessage = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html";
const converseToolUse =
  "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html";
const geminiFunctions = "https://ai.google.dev/gemini-api/docs/function-calling";
const mistralValidator =
  "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py";
const mistralOrder = "https://github.com/avante-corp/avante.nvim/pull/2695";

/** Its check begins to look for calls at the second message, and then finds the results of calls that nobody made. */
const firstOfMistral: ProviderRule = {
  rule: "first-message",
  which: "calls",
  source: mistralValidator,
};
const lastOfMistral: ProviderRule = {
  rule: "last-message",
  source: "https://github.com/0xPlaygrounds/rig/pull/1130",
};
const answerAfterResults: ProviderRule = { rule: "answer-after-results", source: mistralOrder };
const mistralCallIds: ProviderRule = {
  rule: "call-ids",
  pattern: /^[a-zA-Z0-9]{9}$/,
  unique: "request",
  source: "https://mistralai.github.io/mistral-common/usage/tools/#tool-calling-and-messages",
};
/** Its check reads the names in calls and in tool messages. */
const toolNamesOfMistral: ProviderRule = {
  rule: "tool-names",
  pattern: /^[a-zA-Z0-9_-]{1,64}$/,
  source: mistralValidator,
};
const resultsFirst: ProviderRule = { rule: "results-first", source: anthropicTools };
const resultsInOrder: ProviderRule = {
  rule: "results-in-order",
  source: "https://github.com/token-js/token.js/pull/36",
};
const blankOfAnthropic: ProviderRule = {
  rule: "empty-text",
  which: "blank",
  source: "https://github.com/home-assistant/core/issues/175637",
};
/** A blank text among a result's parts: https://github.com/modelcontextprotocol/typescript-sdk/pull/2380 */
const failedWithText: ProviderRule = {
  rule: "result-text",
  which: "failed",
  source: "https://github.com/jlevy/markform/issues/153",
};
/** Where a failed tool said nothing, too: https://github.com/aws-samples/sample-multi-agent-orchestration-chat-on-agentcore/issues/15 */
const resultWithText: ProviderRule = {
  rule: "result-text",
  which: "any",
  source: "https://github.com/NousResearch/hermes-agent/issues/55092",
};
const documentWithText: ProviderRule = {
  rule: "document-with-text",
  source: "https://github.com/archestra-ai/archestra/pull/4220",
};
const reasoningAlone: ProviderRule = {
  rule: "reasoning-alone",
  source: "https://github.com/tailcallhq/forgecode/pull/3073",
};
/** The AI SDK throws at one for Mistral; for Bedrock it leaves the file out, and of nothing else no message. */
const noAnswerFiles: ProviderRule = {
  rule: "answer-files",
  source: "https://github.com/vercel/ai/blob/main/packages/mistral/src/convert-to-mistral-chat-messages.ts",
};
const documentNames: ProviderRule = {
  rule: "document-names",
  source: "https://github.com/maximhq/bifrost/issues/7003",
};
/** Its refusals say the rule whole: https://github.com/anthropics/claude-code/issues/73821 */
const instructionPlace: ProviderRule = {
  rule: "instruction-place",
  // The directive-only form is accepted at any position, as its refusals say.
  anywhere: /^output_config\.|(\.effort|Update)$/,
  source: "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages",
};
/** "Consecutive configuration_update items are not allowed"; the AI SDK makes one of each `…Update` of its own. */
const settingsApart: ProviderRule = {
  rule: "settings-apart",
  names: /^(reasoning|text)\.|Update$/,
  source: "https://developers.openai.com/api/docs/guides/reasoning",
};
/** They run no calls: the AI SDK sends one of another provider as a call of ours, often without its result, or throws. */
const noProviderCalls: ProviderRule = {
  rule: "provider-calls",
  source: "https://github.com/vercel/ai/pull/8245",
};
/** It tells its calls by their ids, and refuses one that it left open and whose turn has ended. */
const ownCallsOfAnthropic: ProviderRule = {
  rule: "provider-calls",
  own: { id: /^(srvtoolu|mcptoolu)_[a-zA-Z0-9_]+$/ },
  answered: true,
  source: "https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons",
};
/** The names are those that the AI SDK gives its calls; any other is sent as a call without its result. */
const ownCallsOfGemini: ProviderRule = {
  rule: "provider-calls",
  own: { name: /^(code_execution$|server:)/, id: /^(?!srvtoolu_)/ },
  source: "https://github.com/vercel/ai/pull/13920",
};
/** Its package of the AI SDK sends the result of any other as a reference to an item that the API has never put out. */
const ownCallsOfOpenai: ProviderRule = {
  rule: "provider-calls",
  own: { name: /^(?!code_execution$|server:)/, id: /^(?!(srvtoolu|mcptoolu)_)/ },
  apart: true,
  source:
    "https://github.com/vercel/ai/blob/main/packages/openai/src/responses/convert-to-openai-responses-input.ts",
};
/** Others that speak the protocol answer with `"tool_calls": []`. */
const nothingUnsent: ProviderRule = {
  rule: "unsent",
  source: "https://github.com/chatboxai/chatbox/issues/2079",
};
/**
 * What the package `openai` adds, and what only an answer has: its own `toResponseInputItems` takes the same out, but for
 * the status of reasoning: https://github.com/BerriAI/litellm/issues/13420
 */
const sdkMembers = {
  parsed: /^(output_text|refusal)$/,
  parsed_arguments: /^function_call$/,
  created_by: /^/,
  status: /^(reasoning|custom_tool_call_output)$/,
};
/**
 * What the package `openai` (7) types without null, where an answer that was written out and read again has one. What it types
 * with null keeps it, and so does the status of a call, which the API takes back.
 */
const sdkNulls = {
  content: /^reasoning$/,
  namespace: /^(function_call|custom_tool_call)$/,
  logprobs: /^output_text$/,
  actions: /^computer_call$/,
  action: /^computer_call$/,
  file_data: /^input_file$/,
  file_url: /^input_file$/,
  filename: /^input_file$/,
};
const noSdkMembers = {
  rule: "extra-members",
  members: sdkMembers,
  nulls: sdkNulls,
  source: "https://github.com/openai/openai-python/issues/2720",
} as const satisfies ProviderRule;
/** Of one report alone: the types of Anthropic's own package have no such member where it is sent. */
const citationsOfCode = { citations: /code_execution_tool_result$/ };
/** "For tool messages, only type `text` is supported", says its reference of content parts; images are taken all the same. */
const textsAndImages: ProviderRule = { rule: "result-media", kept: /^image\//, source: openaiChatApi };
const objectInput: ProviderRule = {
  rule: "call-input",
  source: "https://github.com/vercel/ai/issues/13591",
};
const noReasoning: ProviderRule = { rule: "reasoning", kept: "none", source: openaiChatApi };
const firstOfBedrock: ProviderRule = {
  rule: "first-message",
  source: "https://github.com/elastic/kibana/pull/246393",
};
const openaiMessages: ProviderRule = {
  rule: "messages",
  limit: 2048,
  source: "https://github.com/obot-platform/obot/issues/1009",
};
const openaiCalls: ProviderRule = {
  rule: "calls",
  limit: 128,
  source: "https://github.com/openai/openai-dotnet/issues/317",
};
const openaiTextLength: ProviderRule = { rule: "text-length", limit: 10_485_760, source: openaiChatApi };
const bedrockImages: ProviderRule = { rule: "images", limit: 20, source: converseMessage };
const bedrockDocuments: ProviderRule = { rule: "documents", limit: 5, source: converseMessage };

/** OpenAI's Chat Completions API. */
export const openai: ProfileRules = profileOf("openai", [
  { rule: "not-empty", source: openaiChatApi },
  { rule: "tool-results", source: openaiChatApi },
  noProviderCalls,
  {
    rule: "call-ids",
    pattern: /^.{1,40}$/s,
    // https://github.com/openclaw/openclaw/issues/40996
    unique: "request",
    source: "https://github.com/microsoft/autogen/issues/6377",
  },
  {
    rule: "tool-names",
    pattern: /^[a-zA-Z0-9_-]{1,64}$/,
    source: "https://github.com/mcp-use/mcp-use/pull/94",
  },
  noReasoning,
  nothingUnsent,
  textsAndImages,
  openaiMessages,
  openaiCalls,
  openaiTextLength,
]);

/** OpenAI's Responses API. */
export const openaiResponses: ProfileRules = profileOf("openai-responses", [
  { rule: "not-empty", source: openaiResponsesApi },
  { rule: "tool-results", source: openaiResponsesApi },
  ownCallsOfOpenai,
  {
    rule: "call-ids",
    pattern: /^.{1,64}$/s,
    // https://github.com/earendil-works/pi/issues/9057
    unique: "request",
    source: "https://github.com/AnswerDotAI/fastllm/issues/45",
  },
  // The characters and the length are those that its specification wants of a tool's definition.
  {
    rule: "tool-names",
    pattern: /^[a-zA-Z0-9_-]{1,128}$/,
    source: "https://github.com/NousResearch/hermes-agent/issues/11411",
  },
  // "… of type 'reasoning' was provided without its required following item": also where that has lost its id (January
  // 2026: https://github.com/OpenHands/software-agent-sdk/pull/1754).
  {
    rule: "reasoning-alone",
    bound: /^rs_/,
    source: "https://github.com/openai/openai-node/issues/1567",
  },
  settingsApart,
  // An image that was not made is looked for and not found.
  { rule: "unsent", source: "https://github.com/can1357/oh-my-pi/pull/3226" },
  noSdkMembers,
]);

/** Anthropic's Messages API, with a model that takes no prefilled answer and ties its thinking to one conversation. */
export const anthropic: ProfileRules = profileOf("anthropic", [
  { rule: "not-empty", source: anthropicApi },
  // It joins neighbours of one role: https://platform.claude.com/docs/en/api/messages
  { rule: "tool-results", joins: true, source: anthropicTools },
  ownCallsOfAnthropic,
  resultsFirst,
  instructionPlace,
  { rule: "first-message", source: anthropicApi },
  { rule: "last-message", paused: true, source: "https://github.com/vybestack/llxprt-code/pull/3695" },
  { rule: "same-role", roles: ["tool"], source: anthropicTools },
  blankOfAnthropic,
  failedWithText,
  {
    rule: "call-ids",
    pattern: /^[a-zA-Z0-9_-]{1,64}$/,
    unique: "answer",
    source: "https://github.com/LibreChat-AI/agents/pull/153",
  },
  // In messages it refuses more than 200 characters, in definitions more than 128.
  {
    rule: "tool-names",
    pattern: /^[a-zA-Z0-9_-]{1,128}$/,
    source: "https://github.com/home-assistant/core/issues/140005",
  },
  { rule: "reasoning", kept: "bound", source: preservedThinking },
  reasoningAlone,
  {
    rule: "extra-members",
    members: citationsOfCode,
    source: "https://github.com/agno-agi/agno/issues/8687",
  },
  { rule: "messages", limit: 100_000, source: anthropicApi },
]);

/** Google's Gemini API (`generateContent`), and the same API on Vertex AI. */
export const gemini: ProfileRules = profileOf("gemini", [
  { rule: "not-empty", source: "https://github.com/vercel/ai/issues/3775" },
  { rule: "tool-results", source: "https://github.com/google-gemini/gemini-cli/issues/3814" },
  ownCallsOfGemini,
  resultsInOrder,
  { rule: "system-first", source: "https://ai.google.dev/api/generate-content" },
  { rule: "first-message", source: geminiFunctions },
  { rule: "last-message", source: "https://github.com/crewAIInc/crewAI/pull/6973" },
  { rule: "same-role", roles: ["user", "assistant", "tool"], source: geminiFunctions },
  // It takes every id, but not twice in one content.
  {
    rule: "call-ids",
    pattern: /^/,
    unique: "answer",
    source: "https://github.com/watt-mind/coach/issues/280",
  },
  // In messages it is known to refuse an empty name; the rest is what it takes in a definition.
  {
    rule: "tool-names",
    pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/,
    source: "https://github.com/smallmain/vscode-unify-chat-provider/issues/48",
  },
  // Of reasoning without text, which another provider made, the AI SDK leaves a message without parts.
  { rule: "reasoning-alone", source: "https://github.com/vercel/ai/issues/3775" },
  objectInput,
  // A streamed signature may come in an empty text: https://ai.google.dev/gemini-api/docs/thought-signatures
  // The Gemini API takes an empty text from some models on; Vertex AI, which is sent the same, refuses one.
  {
    rule: "empty-text",
    which: "blank",
    signed: true,
    source: "https://github.com/envoyproxy/ai-gateway/pull/2686",
  },
]);

/** Amazon Bedrock's Converse API. */
export const bedrock: ProfileRules = profileOf("bedrock", [
  { rule: "not-empty", source: converseApi },
  { rule: "tool-results", source: "https://github.com/langgenius/dify-official-plugins/issues/765" },
  noProviderCalls,
  resultsFirst,
  { rule: "system-first", source: converseApi },
  firstOfBedrock,
  { rule: "last-message", source: "https://github.com/microsoft/semantic-kernel/issues/10281" },
  {
    rule: "same-role",
    roles: ["user", "assistant", "tool"],
    besideResults: true,
    source: "https://github.com/Portkey-AI/gateway/issues/748",
  },
  { rule: "empty-text", which: "blank", source: "https://github.com/LibreChat-AI/agents/pull/501" },
  resultWithText,
  {
    rule: "call-ids",
    pattern: /^[a-zA-Z0-9_-]{1,64}$/,
    unique: "request",
    source: converseToolUse,
  },
  { rule: "tool-names", pattern: /^[a-zA-Z0-9_-]{1,64}$/, source: converseToolUse },
  { rule: "reasoning", kept: "bound", source: bedrockThinking },
  noAnswerFiles,
  reasoningAlone,
  documentWithText,
  documentNames,
  bedrockImages,
  bedrockDocuments,
]);

/** Mistral's chat completions API. */
export const mistral: ProfileRules = profileOf("mistral", [
  { rule: "not-empty", source: "https://docs.mistral.ai/api/" },
  { rule: "tool-results", source: "https://docs.mistral.ai/api/" },
  noProviderCalls,
  noAnswerFiles,
  { rule: "system-first", source: mistralOrder },
  firstOfMistral,
  lastOfMistral,
  answerAfterResults,
  { rule: "empty-text", which: "empty", source: "https://docs.mistral.ai/api/" },
  mistralCallIds,
  toolNamesOfMistral,
]);

/** All rules of all providers at once, each in its strictest form: for a list that every provider accepts. */
export const strict: ProfileRules = profileOf("strict", [
  { rule: "not-empty", source: openaiChatApi },
  { rule: "tool-results", source: anthropicTools },
  noProviderCalls,
  resultsFirst,
  resultsInOrder,
  { rule: "system-first", source: converseApi },
  instructionPlace,
  settingsApart,
  firstOfBedrock,
  lastOfMistral,
  { rule: "same-role", roles: ["user", "assistant", "tool"], source: converseApi },
  answerAfterResults,
  blankOfAnthropic,
  resultWithText,
  mistralCallIds,
  { rule: "tool-names", pattern: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/, source: converseToolUse },
  noReasoning,
  nothingUnsent,
  { ...noSdkMembers, members: { ...sdkMembers, ...citationsOfCode } },
  objectInput,
  textsAndImages,
  noAnswerFiles,
  { ...reasoningAlone, bound: /^rs_/ },
  documentWithText,
  documentNames,
  openaiMessages,
  openaiCalls,
  openaiTextLength,
  bedrockImages,
  bedrockDocuments,
]);
