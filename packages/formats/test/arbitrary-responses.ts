import fc from "fast-check";
import type { ResponsesItem } from "../src/openai-responses.ts";
import { base64, count, id, json, orNull, plain, shape, some, text, url } from "./arbitrary.ts";

const name = fc.string({ minLength: 1, maxLength: 8 });
const status = fc.constantFrom("in_progress", "completed", "incomplete");
const phase = orNull(fc.constantFrom("commentary", "final_answer"));
const caller = orNull(
  fc.oneof(plain({ type: fc.constant("direct") }), plain({ type: fc.constant("program"), caller_id: text })),
);
const prompt_cache_breakpoint = plain(
  { mode: fc.constant("explicit") },
  { ttl: fc.constantFrom("30m", "12h") },
);

const textPart = shape({ type: fc.constant("input_text"), text }, { prompt_cache_breakpoint });
const imagePart = shape(
  { type: fc.constant("input_image"), detail: fc.constantFrom("low", "high", "auto", "original") },
  { file_id: orNull(text), image_url: orNull(url), prompt_cache_breakpoint },
);
const filePart = shape(
  { type: fc.constant("input_file") },
  {
    detail: fc.constantFrom("auto", "low", "high"),
    file_data: fc.oneof(base64, url),
    file_id: orNull(text),
    file_url: url,
    filename: text,
    prompt_cache_breakpoint,
  },
);
/** Typed as none of the parts that the types name. */
const unknownPart = shape({ type: fc.constantFrom("input_audio", "input_video", "") }) as fc.Arbitrary<never>;
const inputParts = some(fc.oneof(textPart, imagePart, filePart, unknownPart));
const annotation = fc.oneof(
  shape({ type: fc.constant("file_citation"), file_id: text, filename: text, index: count }),
  shape({ type: fc.constant("url_citation"), url, title: text, start_index: count, end_index: count }),
  shape({
    type: fc.constant("container_file_citation"),
    container_id: text,
    file_id: text,
    filename: text,
    start_index: count,
    end_index: count,
  }),
  shape({ type: fc.constant("file_path"), file_id: text, index: count }),
);
const logprob = { token: text, bytes: some(count), logprob: count };
const outputParts = some(
  fc.oneof(
    shape(
      { type: fc.constant("output_text"), text, annotations: some(annotation) },
      { logprobs: some(plain({ ...logprob, top_logprobs: some(plain(logprob)) })) },
    ),
    shape({ type: fc.constant("refusal"), refusal: text }),
    unknownPart,
  ),
);
const output = fc.oneof(text, inputParts);
const action = fc.oneof(
  shape(
    { type: fc.constant("click"), button: fc.constantFrom("left", "wheel"), x: count, y: count },
    { keys: orNull(some(text)) },
  ),
  shape({ type: fc.constant("double_click"), keys: orNull(some(text)), x: count, y: count }),
  shape({ type: fc.constant("drag"), path: some(plain({ x: count, y: count })) }),
  shape({ type: fc.constant("keypress"), keys: some(text) }),
  shape({ type: fc.constant("move"), x: count, y: count }),
  shape({ type: fc.constant("scroll"), scroll_x: count, scroll_y: count, x: count, y: count }),
  shape({ type: fc.constant("type"), text }),
  shape({ type: fc.constantFrom("screenshot", "wait") }),
);
const safetyChecks = some(plain({ id: text }, { code: orNull(text), message: orNull(text) }));

const easyMessage = shape(
  { role: fc.constantFrom("user", "assistant", "system", "developer"), content: fc.oneof(text, inputParts) },
  { type: fc.constant("message"), phase },
);
const inputMessage = shape(
  { role: fc.constantFrom("user", "system", "developer"), content: inputParts },
  { type: fc.constant("message"), status },
);
const outputMessage = shape(
  { type: fc.constant("message"), id: text, role: fc.constant("assistant"), content: outputParts, status },
  { phase },
);

type Kinds = NonNullable<ResponsesItem["type"]>;

/** One for each type of item; the compiler misses none. */
export const items: { [Type in Kinds]: fc.Arbitrary<ResponsesItem> } = {
  message: fc.oneof(easyMessage, inputMessage, outputMessage),
  function_call: shape(
    { type: fc.constant("function_call"), call_id: id, name, arguments: text },
    { id: text, async: fc.boolean(), caller, namespace: text, status },
  ),
  function_call_output: shape(
    { type: fc.constant("function_call_output"), output },
    { call_id: orNull(id), id: orNull(text), caller, name: orNull(text), status: orNull(status) },
  ),
  custom_tool_call: shape(
    { type: fc.constant("custom_tool_call"), call_id: id, name, input: text },
    { id: text, async: fc.boolean(), caller, namespace: text },
  ),
  custom_tool_call_output: shape(
    { type: fc.constant("custom_tool_call_output"), call_id: id, output },
    { id: text, caller },
  ),
  computer_call: shape(
    {
      type: fc.constant("computer_call"),
      id: text,
      call_id: id,
      pending_safety_checks: safetyChecks,
      status,
    },
    { action, actions: some(action) },
  ),
  computer_call_output: shape(
    {
      type: fc.constant("computer_call_output"),
      call_id: id,
      output: shape({ type: fc.constant("computer_screenshot") }, { file_id: text, image_url: url }),
    },
    { id: orNull(text), acknowledged_safety_checks: orNull(safetyChecks), status: orNull(status) },
  ),
  local_shell_call: shape({
    type: fc.constant("local_shell_call"),
    id: text,
    call_id: id,
    action: shape(
      {
        type: fc.constant("exec"),
        command: some(text),
        env: fc.dictionary(text, text, { maxKeys: 2, noNullPrototype: true }),
      },
      { timeout_ms: orNull(count), user: orNull(text), working_directory: orNull(text) },
    ),
    status,
  }),
  local_shell_call_output: shape(
    { type: fc.constant("local_shell_call_output"), id, output: text },
    { call_id: id, status: orNull(status) },
  ),
  shell_call: shape(
    {
      type: fc.constant("shell_call"),
      call_id: id,
      action: plain(
        { commands: some(text) },
        { max_output_length: orNull(count), timeout_ms: orNull(count) },
      ),
    },
    {
      id: orNull(text),
      caller,
      environment: orNull(
        fc.oneof(
          shape(
            { type: fc.constant("local") },
            { skills: some(plain({ description: text, name: text, path: text })) },
          ),
          shape({ type: fc.constant("container_reference"), container_id: text }),
        ),
      ),
      status: orNull(status),
    },
  ),
  shell_call_output: shape(
    {
      type: fc.constant("shell_call_output"),
      call_id: id,
      output: some(
        shape({
          outcome: fc.oneof(
            plain({ type: fc.constant("timeout") }),
            plain({ type: fc.constant("exit"), exit_code: count }),
          ),
          stderr: text,
          stdout: text,
        }),
      ),
    },
    { id: orNull(text), caller, max_output_length: orNull(count), status: orNull(status) },
  ),
  apply_patch_call: shape(
    {
      type: fc.constant("apply_patch_call"),
      call_id: id,
      operation: fc.oneof(
        shape({ type: fc.constantFrom("create_file", "update_file"), path: text, diff: text }),
        shape({ type: fc.constant("delete_file"), path: text }),
      ),
      status: fc.constantFrom("in_progress", "completed"),
    },
    { id: orNull(text), caller },
  ),
  apply_patch_call_output: shape(
    {
      type: fc.constant("apply_patch_call_output"),
      call_id: id,
      status: fc.constantFrom("completed", "failed"),
    },
    { id: orNull(text), caller, output: orNull(text) },
  ),
  tool_search_call: shape(
    { type: fc.constant("tool_search_call"), arguments: json },
    {
      id: orNull(text),
      call_id: orNull(id),
      execution: fc.constantFrom("server", "client"),
      status: orNull(status),
    },
  ),
  tool_search_output: shape(
    { type: fc.constant("tool_search_output"), tools: some(json) },
    {
      id: orNull(text),
      call_id: orNull(id),
      execution: fc.constantFrom("server", "client"),
      status: orNull(status),
    },
  ),
  web_search_call: shape({
    type: fc.constant("web_search_call"),
    id,
    action: fc.oneof(
      shape(
        { type: fc.constant("search") },
        { queries: some(text), query: text, sources: some(plain({ type: fc.constant("url"), url })) },
      ),
      shape({ type: fc.constant("open_page") }, { url: orNull(url) }),
      shape({ type: fc.constant("find_in_page"), pattern: text, url }),
    ),
    status,
  }),
  file_search_call: shape(
    { type: fc.constant("file_search_call"), id, queries: some(text), status },
    {
      results: orNull(
        some(
          shape(
            {},
            { attributes: orNull(plain({ a: fc.oneof(text, count, fc.boolean()) })), score: count, text },
          ),
        ),
      ),
    },
  ),
  code_interpreter_call: shape({
    type: fc.constant("code_interpreter_call"),
    id,
    code: orNull(text),
    container_id: text,
    outputs: orNull(
      some(
        fc.oneof(
          shape({ type: fc.constant("logs"), logs: text }),
          shape({ type: fc.constant("image"), url }),
          unknownPart,
        ),
      ),
    ),
    status,
  }),
  image_generation_call: shape(
    {
      type: fc.constant("image_generation_call"),
      id,
      result: orNull(base64),
      status: fc.constantFrom("generating", "completed", "failed"),
    },
    {
      output_format: orNull(fc.constantFrom("png", "svg")),
      revised_prompt: orNull(text),
      size: orNull(text),
      error: shape({ code: orNull(text), message: text, param: orNull(text), type: text }),
    },
  ),
  mcp_list_tools: shape(
    {
      type: fc.constant("mcp_list_tools"),
      id: text,
      server_label: text,
      tools: some(
        shape({ name: text, input_schema: json }, { annotations: json, description: orNull(text) }),
      ),
    },
    { error: orNull(text) },
  ),
  mcp_approval_request: shape({
    type: fc.constant("mcp_approval_request"),
    id,
    name,
    arguments: text,
    server_label: text,
  }),
  mcp_approval_response: shape(
    { type: fc.constant("mcp_approval_response"), approval_request_id: id, approve: fc.boolean() },
    { id: orNull(text), reason: orNull(text) },
  ),
  mcp_call: shape(
    { type: fc.constant("mcp_call"), id, name: text, arguments: text, server_label: text },
    {
      approval_request_id: orNull(id),
      error: orNull(
        fc.oneof(
          shape({ type: fc.constantFrom("mcp_protocol_error", "http_error"), code: count, message: text }),
          shape({ type: fc.constant("mcp_tool_execution_error"), content: json }),
        ),
      ),
      output: orNull(text),
      status,
    },
  ),
  program: shape({ type: fc.constant("program"), id: text, call_id: id, code: text, fingerprint: text }),
  program_output: shape({
    type: fc.constant("program_output"),
    id: text,
    call_id: id,
    result: text,
    status: fc.constantFrom("completed", "incomplete"),
  }),
  reasoning: shape(
    {
      type: fc.constant("reasoning"),
      id: text,
      summary: some(shape({ type: fc.constant("summary_text"), text })),
    },
    {
      content: some(shape({ type: fc.constant("reasoning_text"), text })),
      encrypted_content: orNull(base64),
      status,
    },
  ),
  compaction: shape(
    { type: fc.constant("compaction"), encrypted_content: base64 },
    { id: orNull(text), created_by: text },
  ),
  compaction_trigger: shape({ type: fc.constant("compaction_trigger") }, { id: orNull(text) }),
  item_reference: shape({ id: fc.string({ minLength: 1 }) }, { type: orNull(fc.constant("item_reference")) }),
  additional_tools: shape(
    { type: fc.constant("additional_tools"), role: fc.constant("developer"), tools: some(json) },
    { id: orNull(text) },
  ),
  configuration_update: shape(
    { type: fc.constant("configuration_update") },
    {
      id: orNull(text),
      reasoning: plain({}, { effort: orNull(fc.constantFrom("none", "low", "max")) }),
      text: plain({ format: shape({ type: fc.constant("text") }) }),
    },
  ),
};

/** Items that the API's types do not name. */
const otherItems: Record<string, fc.Arbitrary<unknown>> = {
  "unknown call": shape({ type: fc.constant("robot_call"), id }, { call_id: id, name }),
  "unknown output": shape({ type: fc.constant("robot_call_output") }, { call_id: id, output: json }),
  "unknown item": shape({ type: fc.constantFrom("summary", "__proto__", "") }, { id: text }),
};

/** Every kind of item that the type knows, and some that it does not. */
export const responsesItem: fc.Arbitrary<ResponsesItem> = fc.oneof(
  ...Object.values(items),
  ...Object.values(otherItems),
) as fc.Arbitrary<ResponsesItem>;

export const kindsOfItem = Object.entries({ ...items, ...otherItems }) as unknown as readonly (readonly [
  string,
  fc.Arbitrary<ResponsesItem>,
])[];
