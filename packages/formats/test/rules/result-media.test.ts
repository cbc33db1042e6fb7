import { type ModelMessage, user } from "@turnkeep/core";
import { type ChatMessage, openaiFormat } from "../../src/openai.ts";
import { describeRule } from "./describe-rule.ts";
import { call } from "./samples.ts";

const refusedBy = ["openai", "strict"];
const text = (mediaType: string): string =>
  `(The tool gave back a file of ${mediaType}. It is left out: only texts and images can be shown here.)`;
const said = { type: "text" as const, text: "Played." };
const image = { type: "image-data" as const, data: "iVBORw0KGgo=", mediaType: "image/png" };
const file = { type: "file-data" as const, data: "SUQz", mediaType: "audio/mpeg" };
const result = (...value: object[]): ModelMessage =>
  ({
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: "toolu_1", toolName: "search", output: { type: "content", value } },
    ],
  }) as ModelMessage;

describeRule("result-media", [
  {
    breaks: "a sound beside a text",
    messages: [user("a"), call, result(said, file, image)],
    index: 2,
    refusedBy,
    becomes: [user("a"), call, result(said, { type: "text", text: text("audio/mpeg") }, image)],
  },
  {
    breaks: "nothing where a result holds an image",
    messages: [user("a"), call, result(image)],
    index: 2,
    refusedBy: [],
  },
]);

const asked: ChatMessage = {
  role: "assistant",
  tool_calls: [{ id: "call_1234", type: "function", function: { name: "t", arguments: "{}" } }],
};
const put = (...content: object[]): ChatMessage =>
  ({ role: "tool", tool_call_id: "call_1234", content }) as unknown as ChatMessage;

describeRule<ChatMessage>(
  "result-media",
  [
    {
      breaks: "a sound alone",
      messages: [
        { role: "user", content: "a" },
        asked,
        put({ type: "input_audio", input_audio: { data: "SUQz", format: "mp3" } }),
      ],
      index: 2,
      refusedBy,
      becomes: [{ role: "user", content: "a" }, asked, put({ type: "text", text: text("audio/mpeg") })],
    },
  ],
  { format: openaiFormat },
);
