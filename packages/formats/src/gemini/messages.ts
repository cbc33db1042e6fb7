/**
 * The contents of Google's Gen AI SDK, as the `@google/genai` package types them: assignable from and to its `Content`, so
 * an application keeps its own import. Optional members do not admit an explicit `undefined`, because they do not in that
 * package. Members whose values are enums of the package (`language`, `outcome`, `toolType`) are kept, but not named here:
 * no other type is assignable to one.
 *
 * @module
 */

/** What the message carries itself, as base64. */
export interface GeminiBlob {
  data?: string;
  displayName?: string;
  mimeType?: string;
}

/** What stands elsewhere: an uploaded file, a link, a video. */
export interface GeminiFileData {
  displayName?: string;
  fileUri?: string;
  mimeType?: string;
}

/** A call of a function of yours. Without an id, its result is paired with it by the name. */
export interface GeminiFunctionCall {
  id?: string;
  name?: string;
  args?: Record<string, unknown>;
}

/** A medium in a result. */
export interface GeminiFunctionResponsePart {
  inlineData?: GeminiBlob;
  fileData?: GeminiFileData;
}

/** What came of a call: `output` and `error` in `response` are what the API calls them, any other member is yours. */
export interface GeminiFunctionResponse {
  id?: string;
  name?: string;
  response?: Record<string, unknown>;
  parts?: GeminiFunctionResponsePart[];
}

/** Code that the API runs itself. */
export interface GeminiExecutableCode {
  id?: string;
  code?: string;
}

/** What the code put out. */
export interface GeminiCodeExecutionResult {
  id?: string;
  output?: string;
}

/** A call of a tool that the API runs itself. */
export interface GeminiToolCall {
  id?: string;
  args?: Record<string, unknown>;
}

/** What that tool answered. */
export interface GeminiToolResponse {
  id?: string;
  response?: Record<string, unknown>;
}

/** A part holds one of its data members; `thought` and `thoughtSignature` stand beside it. */
export interface GeminiPart {
  text?: string;
  inlineData?: GeminiBlob;
  fileData?: GeminiFileData;
  functionCall?: GeminiFunctionCall;
  functionResponse?: GeminiFunctionResponse;
  executableCode?: GeminiExecutableCode;
  codeExecutionResult?: GeminiCodeExecutionResult;
  toolCall?: GeminiToolCall;
  toolResponse?: GeminiToolResponse;
  /** The part is what the model thought. */
  thought?: boolean;
  /** Goes back on the part that it came with. */
  thoughtSignature?: string;
}

/**
 * A content of Gemini's API: `user` or `model`, without a role the user's. One of role `system` holds the system
 * instruction, which `prompt()` returns apart, for the request's own `systemInstruction`.
 */
export interface GeminiContent {
  role?: string;
  parts?: GeminiPart[];
}
