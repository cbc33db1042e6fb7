import { createChatMemory, isTurnkeepError } from "@turnkeep/core";
import { applyProcessors, toolCallFilter } from "@turnkeep/core/processors";
import { describe, expect, it } from "vitest";
import { openaiResponsesFormat as format, type ResponsesItem } from "../src/openai-responses.ts";

const item = (members: object): ResponsesItem => members as ResponsesItem;
const call = (call_id: string, name = "weather"): ResponsesItem => ({
  type: "function_call",
  call_id,
  name,
  arguments: '{"city":"Ulm"}',
});
const result = (call_id: string, output = "rain"): ResponsesItem => ({
  type: "function_call_output",
  call_id,
  output,
});
const user = (content: string): ResponsesItem => ({ role: "user", content });
const reasoning: ResponsesItem = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "In short." }],
  encrypted_content: "gAAA",
};
const request: ResponsesItem = {
  type: "mcp_approval_request",
  id: "mcpr_1",
  name: "find",
  arguments: "{}",
  server_label: "docs",
};
const approval: ResponsesItem = {
  type: "mcp_approval_response",
  approval_request_id: "mcpr_1",
  approve: true,
};
const mcpCall: ResponsesItem = {
  type: "mcp_call",
  id: "mcp_1",
  name: "find",
  arguments: "{}",
  server_label: "docs",
  output: "found",
  approval_request_id: "mcpr_1",
};
const search = item({ type: "web_search_call", id: "ws_1", action: { type: "search" }, status: "completed" });
const picture = { type: "input_image", detail: "auto", image_url: "data:image/png;base64,aGVsbG8=" } as const;

describe("roles", () => {
  it.each([
    [{ role: "system", content: "s" }, "system"],
    [{ role: "developer", content: "d" }, "system"],
    [{ role: "user", content: "u" }, "user"],
    [{ type: "message", role: "assistant", content: [] }, "assistant"],
    [reasoning, "assistant"],
    [call("a"), "assistant"],
    [search, "assistant"],
    [request, "assistant"],
    [{ type: "compaction", encrypted_content: "x" }, "assistant"],
    [{ id: "msg_1" }, "assistant"],
    [{ type: "item_reference", id: "msg_1" }, "assistant"],
    [{ type: "summary" }, "assistant"],
    [{ type: "summary", role: "user" }, "user"],
    [result("a"), "tool"],
    [{ type: "program_output", call_id: "p" }, "tool"],
    [approval, "tool"],
    [{ type: "additional_tools", role: "developer", tools: [] }, "tool"],
    [{ type: "configuration_update" }, "tool"],
    [{ type: "compaction_trigger" }, "tool"],
  ])("%j is %s", (members, role) => {
    expect(format.role(item(members))).toBe(role);
  });
});

describe("calls and results", () => {
  it.each([
    [call("a"), { id: "a", name: "weather" }],
    [
      { type: "custom_tool_call", call_id: "a", name: "sql", input: "" },
      { id: "a", name: "sql", type: "custom_tool_call" },
    ],
    [
      { type: "computer_call", call_id: "a" },
      { id: "a", name: "computer", type: "computer_call" },
    ],
    [
      { type: "local_shell_call", call_id: "a" },
      { id: "a", name: "local_shell", type: "local_shell_call" },
    ],
    [
      { type: "shell_call", call_id: "a" },
      { id: "a", name: "shell", type: "shell_call" },
    ],
    [
      { type: "apply_patch_call", call_id: "a" },
      { id: "a", name: "apply_patch", type: "apply_patch_call" },
    ],
    [
      { type: "tool_search_call", call_id: "a", execution: "client" },
      { id: "a", name: "tool_search", type: "tool_search_call" },
    ],
  ])("the application answers %j", (members, ref) => {
    expect(format.toolCalls(item(members))).toEqual([ref]);
    expect(format.toolResults(item(members))).toEqual([]);
    const [answer] = format.interruptedResults(format.toolCalls(item(members)), "gone");
    expect(answer?.type).toBe(
      members.type === "tool_search_call" ? "tool_search_output" : `${String(members.type)}_output`,
    );
    expect(format.toolResults(answer as ResponsesItem)).toEqual([{ id: "a" }]);
  });

  it.each([
    [search, "web_search", "ws_1"],
    [{ type: "file_search_call", id: "fs_1" }, "file_search", "fs_1"],
    [{ type: "code_interpreter_call", id: "ci_1" }, "code_interpreter", "ci_1"],
    [{ type: "image_generation_call", id: "ig_1" }, "image_generation", "ig_1"],
    [{ type: "mcp_call", id: "mcp_1", name: "find" }, "find", "mcp_1"],
    [{ type: "robot_call", id: "r_1" }, "robot", "r_1"],
  ])("the API runs %j, which holds its result", (members, name, id) => {
    expect(format.toolCalls(item(members))).toEqual([{ id, name, providerExecuted: true }]);
    expect(format.toolResults(item(members))).toEqual([{ id }]);
  });

  it.each([
    [{ type: "program", call_id: "a" }, { type: "program_output", call_id: "a" }, "program"],
    [
      { type: "shell_call", call_id: "a", environment: { type: "container_reference" } },
      { type: "shell_call_output", call_id: "a" },
      "shell",
    ],
    [
      { type: "tool_search_call", call_id: "a", execution: "server" },
      { type: "tool_search_output", call_id: "a" },
      "tool_search",
    ],
    [{ type: "robot_call", call_id: "a" }, { type: "robot_call_output", call_id: "a" }, "robot"],
  ])("the API runs %j, which %j answers", (members, output, name) => {
    expect(format.toolCalls(item(members))).toEqual([{ id: "a", name, providerExecuted: true }]);
    expect(format.toolResults(item(members))).toEqual([]);
    expect(format.toolResults(item(output))).toEqual([{ id: "a" }]);
  });

  it("reads the id of a result, where it has one", () => {
    expect(format.toolResults(result("a"))).toEqual([{ id: "a" }]);
    expect(format.toolResults(item({ type: "function_call_output", id: "fco_1", output: "" }))).toEqual([]);
    const shell = { type: "local_shell_call_output", id: "b", output: "" };
    expect(format.toolResults(item(shell))).toEqual([{ id: "b" }]);
    expect(format.toolResults(item({ ...shell, call_id: "a" }))).toEqual([{ id: "a" }]);
  });

  it("answers an interrupted call by an item as the API wants it, with the words where it can hold any", () => {
    const incomplete = { call_id: "a", status: "incomplete" };
    const answers: Record<string, object> = {
      function_call: { type: "function_call_output", call_id: "a", output: "gone" },
      custom_tool_call: { type: "custom_tool_call_output", call_id: "a", output: "gone" },
      computer_call: {
        ...incomplete,
        type: "computer_call_output",
        output: { type: "computer_screenshot", image_url: expect.stringMatching(/^data:image\/png;base64,/) },
      },
      local_shell_call: { ...incomplete, type: "local_shell_call_output", output: "gone" },
      shell_call: {
        ...incomplete,
        type: "shell_call_output",
        output: [{ outcome: { type: "exit", exit_code: 1 }, stdout: "", stderr: "gone" }],
      },
      apply_patch_call: { type: "apply_patch_call_output", call_id: "a", status: "failed", output: "gone" },
      tool_search_call: { ...incomplete, type: "tool_search_output", execution: "client", tools: [] },
    };
    for (const [type, answer] of Object.entries(answers)) {
      const calls = format.toolCalls(item({ type, call_id: "a", name: "f", execution: "client" }));
      expect(format.interruptedResults(calls, "gone")).toEqual([answer]);
    }
  });
});

describe("approvals", () => {
  it("takes a request for the call that it asks for", () => {
    expect(format.toolCalls(request)).toEqual([{ id: "mcpr_1", name: "find", providerExecuted: true }]);
    expect(format.approvals(request)).toEqual([
      { kind: "request", approvalId: "mcpr_1", toolCallId: "mcpr_1" },
    ]);
    expect(format.approvals(approval)).toEqual([{ kind: "response", approvalId: "mcpr_1" }]);
    expect(format.toolResults(mcpCall)).toEqual([{ id: "mcp_1" }, { id: "mcpr_1" }]);
    expect(format.approvals(mcpCall)).toEqual([]);
  });

  it("leaves the request out of an approved call, which stays", () => {
    const { approval_request_id: _, ...rest } = mcpCall as Extract<ResponsesItem, { type: "mcp_call" }>;
    expect(format.without(mcpCall, { toolResults: (id) => id === "mcpr_1" })).toEqual(rest);
    expect(format.without(mcpCall, { toolResults: () => true })).toBeUndefined();
  });
});

describe("hasReasoning and isBoundary", () => {
  it("are items of their own", () => {
    expect(format.hasReasoning(reasoning)).toBe(true);
    expect(format.hasReasoning(call("a"))).toBe(false);
    expect(format.isBoundary({ type: "compaction", encrypted_content: "x" })).toBe(true);
    expect(format.isBoundary({ type: "compaction_trigger" })).toBe(false);
  });
});

describe("pieces", () => {
  it("holds what a model reads, by place", () => {
    const said = item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi" }] });
    expect(format.pieces(said)).toEqual([{ type: "text", text: "Hi", of: "content" }]);
    expect(format.pieces(user("Hi"))).toEqual([{ type: "text", text: "Hi", of: "content" }]);
    expect(format.pieces(call("a"))).toEqual([
      { type: "text", text: "weather", of: "name" },
      { type: "text", text: '{"city":"Ulm"}', of: "tool-call" },
    ]);
    expect(format.pieces(result("a"))).toEqual([{ type: "text", text: "rain", of: "tool-result" }]);
    expect(format.pieces(mcpCall)).toEqual([
      { type: "text", text: "find", of: "name" },
      { type: "text", text: "{}", of: "tool-call" },
      { type: "text", text: "found", of: "tool-result" },
    ]);
    expect(format.pieces({ id: "msg_1" })).toEqual([]);
    expect(format.pieces({ type: "compaction", encrypted_content: "x" })).toEqual([
      { type: "text", text: "x", of: "content" },
    ]);
  });

  it("tells type and size of media where the item does", () => {
    const message = item({
      role: "user",
      content: [
        picture,
        { type: "input_image", detail: "low", file_id: "f" },
        { type: "input_file", file_data: "data:application/pdf;base64,aGk=" },
        { type: "input_file", file_data: "aGk=" },
        { type: "input_file", file_url: "https://example.org/a.pdf" },
      ],
    });
    const media = { type: "media", mediaType: undefined, bytes: undefined, of: "content" };
    expect(format.pieces(message)).toEqual([
      { ...media, mediaType: "image/png", bytes: 5, data: "aGVsbG8=", detail: "auto" },
      { ...media, mediaType: "image/*", detail: "low" },
      { ...media, mediaType: "application/pdf", bytes: 2, data: "aGk=" },
      { ...media, bytes: 2, data: "aGk=" },
      media,
    ]);
    const screenshot = { type: "computer_screenshot", image_url: picture.image_url };
    expect(format.pieces(item({ type: "computer_call_output", call_id: "a", output: screenshot }))).toEqual([
      { ...media, mediaType: "image/png", bytes: 5, data: "aGVsbG8=", of: "tool-result" },
    ]);
    expect(
      format.pieces(item({ type: "image_generation_call", id: "i", result: "aGk=", output_format: "webp" })),
    ).toEqual([
      { type: "text", text: "image_generation", of: "name" },
      { ...media, mediaType: "image/webp", bytes: 2, of: "tool-result" },
    ]);
  });

  it("counts reasoning as it was, else what carries it, else its summary", () => {
    const content = [{ type: "reasoning_text", text: "6 × 7" }];
    const texts = (members: object) => format.pieces(item({ ...reasoning, ...members }));
    expect(texts({ content })).toEqual([{ type: "text", text: "6 × 7", of: "reasoning" }]);
    expect(texts({})).toEqual([{ type: "text", text: "gAAA", of: "reasoning" }]);
    expect(texts({ encrypted_content: null })).toEqual([
      { type: "text", text: "In short.", of: "reasoning" },
    ]);
  });

  it("counts what the API's own tools put out", () => {
    const outputs = [
      { type: "logs", logs: "42" },
      { type: "image", url: picture.image_url },
    ];
    expect(format.pieces(item({ type: "code_interpreter_call", id: "c", code: "6*7", outputs }))).toEqual([
      { type: "text", text: "code_interpreter", of: "name" },
      { type: "text", text: "6*7", of: "tool-call" },
      { type: "text", text: "42", of: "tool-result" },
      { type: "media", mediaType: "image/png", bytes: 5, data: "aGVsbG8=", of: "tool-result" },
    ]);
    const results = [{ text: "found" }];
    expect(format.pieces(item({ type: "file_search_call", id: "f", queries: ["q"], results }))).toEqual([
      { type: "text", text: "file_search", of: "name" },
      { type: "text", text: '["q"]', of: "tool-call" },
      { type: "text", text: '[{"text":"found"}]', of: "tool-result" },
    ]);
  });

  it("counts items and parts of an unknown type by their JSON", () => {
    expect(format.pieces(item({ type: "summary", x: 1 }))).toEqual([
      { type: "text", text: '{"type":"summary","x":1}', of: "content" },
    ]);
    expect(format.pieces(item({ role: "user", content: [{ type: "input_video" }] }))).toEqual([
      { type: "text", text: '{"type":"input_video"}', of: "content" },
    ]);
  });
});

describe("isEmpty", () => {
  it.each([
    [user(" \n"), true],
    [{ role: "user", content: [] }, true],
    [{ role: "user", content: [{ type: "input_text", text: " " }] }, true],
    [{ role: "user", content: [picture] }, false],
    [{ role: "assistant", content: [{ type: "refusal", refusal: "No." }] }, false],
    [{ role: "assistant", content: [{ type: "output_text", text: "" }] }, true],
    [result("a", ""), false],
    [{ ...reasoning, summary: [] }, false],
    [{ id: "msg_1" }, false],
  ])("%j: %s", (members, empty) => {
    expect(format.isEmpty(item(members))).toBe(empty);
  });
});

describe("without", () => {
  it("leaves an item out as a whole, or as it is", () => {
    expect(format.without(call("a"), { toolCalls: (id) => id === "a" })).toBeUndefined();
    expect(format.without(call("a"), { toolCalls: (id) => id === "b", toolResults: () => true })).toEqual(
      call("a"),
    );
    expect(format.without(result("a"), { toolResults: (id) => id === "a" })).toBeUndefined();
    expect(format.without(search, { toolResults: (id) => id === "ws_1" })).toBeUndefined();
    expect(format.without(request, { toolCalls: (id) => id === "mcpr_1" })).toBeUndefined();
    expect(format.without(reasoning, { reasoning: true })).toBeUndefined();
    const said = user("Hi");
    expect(format.without(said, { toolCalls: () => true, reasoning: true, media: true })).toBe(said);
  });

  it("leaves media out, and keeps a result as an answer to its call", () => {
    const text = { type: "input_text", text: "What is this?" } as const;
    expect(format.without({ role: "user", content: [text, picture] }, { media: true })).toEqual({
      role: "user",
      content: [text],
    });
    expect(format.without({ role: "user", content: [picture] }, { media: true })).toBeUndefined();
    const shot = item({ ...result("a"), output: [picture] });
    expect(format.without(shot, { media: true })).toEqual(result("a", ""));
    const screenshot = { type: "computer_screenshot", image_url: "https://example.org/a.png" };
    const clicked = item({ type: "computer_call_output", call_id: "a", output: screenshot });
    expect(format.without(clicked, { media: true })).toBe(clicked);
    const drawn = item({ type: "image_generation_call", id: "i", result: "aGk=", status: "completed" });
    expect(format.without(drawn, { media: true })).toBeUndefined();
    const image = { type: "image", url: "https://example.org/a.png" };
    const ran = { type: "code_interpreter_call", id: "c", outputs: [image, { type: "logs", logs: "42" }] };
    expect(format.without(item(ran), { media: true })).toEqual({ ...ran, outputs: [ran.outputs[1]] });
  });
});

describe("encode", () => {
  it.each([
    ["hello", "is a string"],
    [{}, "has neither a type nor a role"],
    [{ type: 7 }, "has a number as type"],
    [{ object: "response", id: "resp_1", output: ["secret"] }, "is a whole response"],
    [{ role: "robot", content: "secret" }, 'the role "robot"'],
    [{ type: "message", content: "secret" }, "undefined as role"],
    [{ role: "user" }, "has undefined as content"],
    [{ role: "user", content: ["secret"] }, "without a type as content[0]"],
    [{ role: "user", content: [{ type: "input_text" }] }, "has undefined as content[0].text"],
    [{ role: "assistant", content: [{ type: "refusal" }] }, "has undefined as content[0].refusal"],
    [{ type: "function_call", name: "secret" }, "has undefined as call_id"],
    [{ type: "function_call", call_id: "a", name: "" }, "an empty string as name"],
    [{ type: "custom_tool_call_output", output: "secret" }, "has undefined as call_id"],
    [{ type: "function_call_output", call_id: "a" }, "has undefined as output"],
    [{ type: "function_call_output", call_id: "a", output: ["secret"] }, "without a type as output[0]"],
    [{ type: "local_shell_call_output", output: "secret" }, "has undefined as id"],
    [{ type: "reasoning", summary: "secret" }, "has a string as summary"],
    [{ type: "code_interpreter_call", outputs: ["secret"] }, "without a type as outputs[0]"],
    [{ type: "mcp_approval_request", name: "secret" }, "has undefined as id"],
    [{ type: "mcp_approval_response" }, "has undefined as approval_request_id"],
    [{ type: "item_reference" }, "has undefined as id"],
    [{ role: "user", content: "secret", extra: () => 1 }, "extra"],
  ])("refuses %j and says why, without its content", (members, reason) => {
    let error: unknown;
    try {
      format.encode(members as unknown as ResponsesItem);
    } catch (thrown) {
      error = thrown;
    }
    expect(isTurnkeepError(error, "INVALID_MESSAGE")).toBe(true);
    expect(String(error)).toContain(reason);
    expect(String(error)).not.toContain("secret");
  });
});

describe("decode", () => {
  it("refuses what another format or a later version wrote, or other hands changed", () => {
    const encoded = format.encode(user("x"));
    expect(() => format.decode(encoded.replace('"openai-responses"', '"other"'))).toThrow(/other/);
    expect(() => format.decode(encoded.replace('"version":1', '"version":2'))).toThrow(/version 2/);
    const changed = encoded.replace('"user"', '"robot"');
    expect(() => format.decode(changed)).toThrow(expect.objectContaining({ code: "CORRUPT_RECORD" }));
  });
});

describe("a memory", () => {
  it("keeps a request, its approval and the call that it allowed together", async () => {
    const memory = createChatMemory({ format });
    const items = [user("Find it."), request, approval, mcpCall, user("Thanks.")];
    await memory.add(...items);
    expect(await memory.messages()).toEqual(items);
  });

  it("shows none of a filtered tool's request, approval and call", async () => {
    const items = [user("Find it."), request, approval, mcpCall, user("Thanks.")];
    const filtered = (exclude: string[]) => applyProcessors(items, [toolCallFilter({ exclude })], { format });
    expect(await filtered(["find"])).toEqual([user("Find it."), user("Thanks.")]);
    expect(await filtered(["other"])).toEqual(items);
  });

  it("answers an interrupted call of an earlier step by its kind, and none of the API's own", async () => {
    const memory = createChatMemory({ format });
    const patch = item({ type: "apply_patch_call", call_id: "p", operation: {}, status: "completed" });
    await memory.add(user("Fix it."), search, patch, user("Hello?"));
    expect(await memory.messages()).toEqual([
      user("Fix it."),
      search,
      patch,
      { type: "apply_patch_call_output", call_id: "p", status: "failed", output: expect.any(String) },
      user("Hello?"),
    ]);
  });

  it("starts at the API's own compaction", async () => {
    const memory = createChatMemory({ format });
    const compaction: ResponsesItem = { type: "compaction", encrypted_content: "x" };
    await memory.add({ role: "developer", content: "Be brief." }, user("Hi"), compaction, user("Go on."));
    expect(await memory.messages()).toEqual([
      { role: "developer", content: "Be brief." },
      compaction,
      user("Go on."),
    ]);
  });
});
