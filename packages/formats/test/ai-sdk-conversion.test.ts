import { createChatMemory, entry, type ModelMessageLike, modelMessageFormat } from "@turnkeep/core";
import * as ai6 from "ai6";
import * as ai7 from "ai7";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type UIMessageLike, uiMessageFormat } from "../src/ai-sdk.ts";
import { sdkMessage } from "./arbitrary-ui-messages.ts";

type Convert = (messages: UIMessageLike[], options?: object) => Promise<ModelMessageLike[]>;

const convertDataPart = (part: { data: unknown }) =>
  typeof part.data === "string" ? { type: "text" as const, text: part.data } : undefined;
const format = uiMessageFormat({ convertDataPart });
/** What the SDK itself makes of a message is the measure of what the format tells of it. */
describe.each([
  [6, ai6.convertToModelMessages as unknown as Convert],
  [7, ai7.convertToModelMessages as unknown as Convert],
] as const)("what the AI SDK %i sends of any message", (major, convert) => {
  const message = sdkMessage(major).filter(({ role }) => role === "assistant");

  it("holds the calls, results and approvals that the format tells", async () => {
    await fc.assert(
      fc.asyncProperty(message, async (one) => {
        const sent = await convert([one], { convertDataPart });
        const ids = (refs: readonly { id: string; name?: string | undefined }[]) =>
          refs.map(({ id, name }) => [id, name]).sort();
        expect(ids(format.toolCalls(one))).toEqual(ids(sent.flatMap(modelMessageFormat.toolCalls)));
        // Results of calls that the provider ran are sent in another way, and a denial is sent before it is stored.
        const isSent = (
          part: UIMessageLike["parts"][number] & { providerExecuted?: boolean; state?: string },
        ) => part.providerExecuted !== true || part.state !== "output-denied";
        const kept = { ...one, parts: one.parts.filter(isSent) };
        const answered = ids(
          (await convert([kept], { convertDataPart })).flatMap(modelMessageFormat.toolResults),
        );
        const told = ids(format.toolResults(kept));
        for (const result of told) expect(answered).toContainEqual(result);
        if (major === 6) expect(answered).toEqual(told);
        const approvals = sent.flatMap(modelMessageFormat.approvals);
        expect(new Set(format.approvals(one).map((approval) => JSON.stringify(approval)))).toEqual(
          new Set(approvals.map((approval) => JSON.stringify(approval))),
        );
      }),
    );
  });

  it("is nothing where the format calls it empty", async () => {
    await fc.assert(
      fc.asyncProperty(sdkMessage(major), async (one) => {
        const sent = await convert([one], { convertDataPart });
        if (format.isEmpty(one)) expect(sent.every(modelMessageFormat.isEmpty)).toBe(true);
      }),
    );
  });

  it("has no text that the format does not count", async () => {
    await fc.assert(
      fc.asyncProperty(message, async (one) => {
        const sent = await convert([one], { convertDataPart });
        const counted = format.pieces(one).flatMap((piece) => (piece.type === "text" ? [piece.text] : []));
        const place = (of: string) => of === "content" || of === "reasoning" || of === "name";
        for (const piece of sent.flatMap(modelMessageFormat.pieces)) {
          if (piece.type !== "text" || !place(piece.of) || piece.text === "") continue;
          if (piece.text.startsWith('{"type":"custom"')) continue;
          expect(counted).toContain(piece.text);
        }
        const media = (pieces: readonly { type: string }[]) =>
          pieces.filter(({ type }) => type === "media").length;
        expect(media(format.pieces(one))).toBe(media(sent.flatMap(modelMessageFormat.pieces)));
      }),
    );
  });

  it("changes nothing once it went through a memory", async () => {
    await fc.assert(
      fc.asyncProperty(sdkMessage(major), async (one) => {
        const stored = format.decode(format.encode(one));
        expect(await convert([stored], { convertDataPart })).toEqual(
          await convert([one], { convertDataPart }),
        );
      }),
    );
  });

  it("has no open call before the last message of a memory's view", async () => {
    // Providers use an id again in later messages, never twice in one.
    const isDistinct = (one: UIMessageLike) => {
      const ids = format.toolCalls(one).map(({ id }) => id);
      return new Set(ids).size === ids.length;
    };
    const messages = fc.array(message.filter(isDistinct), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(messages, async (conversation) => {
        const memory = createChatMemory({ format });
        await memory.add(...conversation.map((one, index) => entry(one, { id: `m-${index}` })));
        const view = await memory.messages();
        const sent = await convert(view.slice(0, -1), { convertDataPart });
        const answered = new Set(sent.flatMap(modelMessageFormat.toolResults).map(({ id }) => id));
        const open = sent
          .flatMap(modelMessageFormat.toolCalls)
          .filter((call) => call.providerExecuted !== true && !answered.has(call.id));
        expect(open).toEqual([]);
      }),
    );
  });
});
