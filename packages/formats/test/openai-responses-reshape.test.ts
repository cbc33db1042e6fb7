import { describe } from "vitest";
import { openaiResponsesFormat, type ResponsesItem } from "../src/openai-responses.ts";
import { testReshapeCases } from "./reshape-cases.ts";

const item = (members: object) => members as ResponsesItem;
const user = (...content: unknown[]) => item({ role: "user", content });
const said = (...content: unknown[]) => item({ type: "message", id: "m", role: "assistant", content });
const text = (of: string) => ({ type: "input_text", text: of });
const output = (of: string) => ({ type: "output_text", text: of, annotations: [] });
const image = { type: "input_image", image_url: "https://example.org/secret.png", detail: "auto" };
const of = (type: string, members: object) => item({ type, ...members });

describe("openaiResponsesFormat", () => {
  testReshapeCases<ResponsesItem>(openaiResponsesFormat, {
    renamed: [
      ...[
        "function_call",
        "custom_tool_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
      ]
        .flatMap((type) => [type, `${type}_output`])
        .map(
          (type) =>
            [type, of(type, { id: "i", call_id: "1" }), of(type, { id: "i", call_id: "new-1" })] as const,
        ),
      [
        "a local shell's output as the types have it",
        of("local_shell_call_output", { id: "1", output: "" }),
        of("local_shell_call_output", { id: "new-1", output: "" }),
      ],
      ...["tool_search_call", "tool_search_output"].flatMap((type) => [
        [
          `${type} of the application's`,
          of(type, { call_id: "1", execution: "client" }),
          of(type, { call_id: "new-1", execution: "client" }),
        ] as const,
        [`${type} of the API's`, of(type, { call_id: "1", execution: "server" })] as const,
      ]),
      ["a program", of("program", { id: "1", call_id: "1" })],
      ["a program's output", of("program_output", { id: "1", call_id: "1" })],
      ["an approval", of("mcp_approval_request", { id: "1", name: "a" })],
      ["a message", user(text("1"))],
    ],
    named: [
      ...["function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"].map(
        (type) =>
          [
            type,
            of(type, { call_id: "1", name: "find" }),
            of(type, { call_id: "1", name: "new-find" }),
          ] as const,
      ),
      ["a result that bears none", of("function_call_output", { call_id: "1", name: null })],
      ["a call that bears none", of("computer_call", { call_id: "1" })],
      ["a call of the API's", of("mcp_call", { id: "1", name: "find" })],
      ["an approval", of("mcp_approval_request", { id: "1", name: "find" })],
    ],
    joined: [["nothing: each item stands alone", user(text("a")), user(text("b")), undefined]],
    emptied: [
      ["a text", item({ role: "user", content: "" }), "empty", undefined],
      ["parts", user(text(""), image, text(" ")), "empty", user(image, text(" "))],
      ["blank parts", user(text(""), image, text(" ")), "blank", user(image)],
      ["an answer", said(output(""), { type: "refusal", refusal: "" }), "empty", undefined],
    ],
    full: [
      ["a result", of("function_call_output", { call_id: "1", output: "" })],
      ["reasoning", of("reasoning", { id: "r", summary: [{ type: "summary_text", text: "" }] })],
      ["a compaction", of("compaction", { encrypted_content: "" })],
      ["a list without parts", user()],
    ],
    mapped: [
      ["a text", item({ role: "user", content: "a secret" }), item({ role: "user", content: "a …" })],
      ["parts", user(text("secret"), image), user(text("…"), image)],
      [
        "an answer",
        said(output("secret"), { type: "refusal", refusal: "secret" }),
        said(output("…"), { type: "refusal", refusal: "…" }),
      ],
      [
        "reasoning",
        of("reasoning", { id: "secret", summary: [{ type: "summary_text", text: "secret" }] }),
        of("reasoning", { id: "secret", summary: [{ type: "summary_text", text: "…" }] }),
      ],
      [
        "reasoning as it was",
        of("reasoning", { summary: [], content: [{ type: "reasoning_text", text: "secret" }] }),
        of("reasoning", { summary: [], content: [{ type: "reasoning_text", text: "…" }] }),
      ],
      [
        "reasoning that is encrypted",
        of("reasoning", { summary: [{ type: "summary_text", text: "secret" }], encrypted_content: "secret" }),
      ],
      ["a compaction", of("compaction", { encrypted_content: "secret" })],
      [
        "a call",
        of("function_call", { call_id: "secret", name: "secret", arguments: '{"a":"secret"}' }),
        of("function_call", { call_id: "secret", name: "secret", arguments: '{"a":"…"}' }),
      ],
      [
        "a result",
        of("function_call_output", { call_id: "secret", output: "secret" }),
        of("function_call_output", { call_id: "secret", output: "…" }),
      ],
      [
        "a result of parts",
        of("custom_tool_call_output", { call_id: "1", output: [text("secret"), image] }),
        of("custom_tool_call_output", { call_id: "1", output: [text("…"), image] }),
      ],
      ["a screenshot", of("computer_call_output", { call_id: "1", output: { image_url: "secret" } })],
      [
        "a call of the API's with its result",
        of("mcp_call", { id: "secret", name: "a", arguments: "secret", output: "secret" }),
        of("mcp_call", { id: "secret", name: "a", arguments: "…", output: "…" }),
      ],
      [
        "code and what it put out",
        of("code_interpreter_call", {
          code: "secret",
          outputs: [
            { type: "logs", logs: "secret" },
            { type: "image", url: "secret" },
          ],
        }),
        of("code_interpreter_call", {
          code: "…",
          outputs: [
            { type: "logs", logs: "…" },
            { type: "image", url: "secret" },
          ],
        }),
      ],
      [
        "an unknown item",
        of("robot_call", { id: "secret", call_id: "secret", name: "secret", body: "secret" }),
        of("robot_call", { id: "secret", call_id: "secret", name: "secret", body: "…" }),
      ],
      ["a reference", item({ id: "secret" })],
    ],
    cut: [
      [
        "a shell call",
        of("shell_call", { call_id: "1", action: { commands: ["second"] } }),
        of("shell_call", { call_id: "1", action: { commands: ["seco"] } }),
      ],
      ["parts", user(text("second"), image), user(text("seco"), image)],
      [
        "an answer",
        said(output("second"), { type: "refusal", refusal: "secret" }),
        said(output("seco"), { type: "refusal", refusal: "secr" }),
      ],
      [
        "reasoning as it was, also where a part has no text",
        of("reasoning", {
          summary: [],
          content: [{ type: "reasoning_text", text: "second" }, { type: "plan" }],
        }),
        of("reasoning", {
          summary: [],
          content: [
            { type: "reasoning_text", text: "seco" },
            { type: "plan", text: '{"ty' },
          ],
        }),
      ],
      [
        "code and what it put out",
        of("code_interpreter_call", {
          code: "second",
          outputs: [{ type: "logs", logs: "third" }, { type: "image", url: "secret" }, { type: "video" }],
        }),
        of("code_interpreter_call", {
          code: "seco",
          outputs: [
            { type: "logs", logs: "thir" },
            { type: "image", url: "secret" },
            { type: "logs", logs: '{"ty' },
          ],
        }),
      ],
      ["an unknown part", user({ type: "input_video" }), user(text('{"ty'))],
      ["an unknown part of an answer", said({ type: "video" }), said(output('{"ty'))],
    ],
  });
});
