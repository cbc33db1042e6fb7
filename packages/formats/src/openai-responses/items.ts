import type {
  ResponsesApplyPatchCall,
  ResponsesApplyPatchCallOutput,
  ResponsesComputerCall,
  ResponsesComputerCallOutput,
  ResponsesCustomToolCall,
  ResponsesCustomToolCallOutput,
  ResponsesFunctionCall,
  ResponsesFunctionCallOutput,
  ResponsesLocalShellCall,
  ResponsesLocalShellCallOutput,
  ResponsesShellCall,
  ResponsesShellCallOutput,
  ResponsesStatus,
  ResponsesTool,
  ResponsesToolSearchCall,
  ResponsesToolSearchOutput,
} from "./call-items.ts";
import type { ResponsesInputPart, ResponsesOutputPart } from "./content.ts";
import type {
  ResponsesCodeInterpreterCall,
  ResponsesFileSearchCall,
  ResponsesImageGenerationCall,
  ResponsesMcpApprovalRequest,
  ResponsesMcpApprovalResponse,
  ResponsesMcpCall,
  ResponsesMcpListTools,
  ResponsesProgram,
  ResponsesProgramOutput,
  ResponsesWebSearchCall,
} from "./provider-items.ts";

/**
 * The items of OpenAI's Responses API, as the `openai` package types them: assignable from and to its
 * `ResponseInputItem`, so an application keeps its own import. Optional members do not admit an explicit `undefined`,
 * because they do not in that package.
 *
 * @module
 */

export type ResponsesPhase = "commentary" | "final_answer";

/** A message in its short form. */
export interface ResponsesEasyMessage {
  role: "user" | "assistant" | "system" | "developer";
  content: string | ResponsesInputPart[];
  type?: "message";
  phase?: ResponsesPhase | null;
}

export interface ResponsesInputMessage {
  role: "user" | "system" | "developer";
  content: ResponsesInputPart[];
  type?: "message";
  status?: ResponsesStatus;
}

/** The model's text. */
export interface ResponsesOutputMessage {
  type: "message";
  id: string;
  role: "assistant";
  content: ResponsesOutputPart[];
  status: ResponsesStatus;
  phase?: ResponsesPhase | null;
}

/** The model's reasoning; goes with the item that follows it. */
export interface ResponsesReasoning {
  type: "reasoning";
  id: string;
  summary: { type: "summary_text"; text: string }[];
  content?: { type: "reasoning_text"; text: string }[];
  encrypted_content?: string | null;
  status?: ResponsesStatus;
}

/** The API's own compaction of what stands before it. */
export interface ResponsesCompaction {
  type: "compaction";
  encrypted_content: string;
  id?: string | null;
}

/** Asks the API to compact. */
export interface ResponsesCompactionTrigger {
  type: "compaction_trigger";
  id?: string | null;
}

/** Stands for an item that the API keeps. */
export interface ResponsesItemReference {
  id: string;
  type?: "item_reference" | null;
  /** A whole response is not an item: its `output` holds the items. */
  object?: never;
}

/** Tools that are available from here on. */
export interface ResponsesAdditionalTools {
  type: "additional_tools";
  role: "developer";
  tools: ResponsesTool[];
  id?: string | null;
}

/** Settings that apply from here on. */
export interface ResponsesConfigurationUpdate {
  type: "configuration_update";
  id?: string | null;
  reasoning?: { effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null };
  text?: {
    format:
      | { type: "text" }
      | {
          type: "json_schema";
          name: string;
          schema: { [key: string]: unknown };
          description?: string;
          strict?: boolean | null;
        };
  };
}

/** An item of OpenAI's Responses API. */
export type ResponsesItem =
  | ResponsesEasyMessage
  | ResponsesInputMessage
  | ResponsesOutputMessage
  | ResponsesFunctionCall
  | ResponsesFunctionCallOutput
  | ResponsesCustomToolCall
  | ResponsesCustomToolCallOutput
  | ResponsesComputerCall
  | ResponsesComputerCallOutput
  | ResponsesLocalShellCall
  | ResponsesLocalShellCallOutput
  | ResponsesShellCall
  | ResponsesShellCallOutput
  | ResponsesApplyPatchCall
  | ResponsesApplyPatchCallOutput
  | ResponsesToolSearchCall
  | ResponsesToolSearchOutput
  | ResponsesWebSearchCall
  | ResponsesFileSearchCall
  | ResponsesCodeInterpreterCall
  | ResponsesImageGenerationCall
  | ResponsesMcpListTools
  | ResponsesMcpApprovalRequest
  | ResponsesMcpApprovalResponse
  | ResponsesMcpCall
  | ResponsesProgram
  | ResponsesProgramOutput
  | ResponsesReasoning
  | ResponsesCompaction
  | ResponsesCompactionTrigger
  | ResponsesItemReference
  | ResponsesAdditionalTools
  | ResponsesConfigurationUpdate;
