import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AnyUIPart, isCompaction } from "../src/ai-sdk/parts.ts";
import { type UIMessageLike, uiMessageFormat } from "../src/ai-sdk.ts";
import { uiMessage } from "./arbitrary-ui-messages.ts";
import { testProperties } from "./format-properties.ts";
import { testReshaping } from "./reshape-properties.ts";

const format = uiMessageFormat();
const partsOf = (message: UIMessageLike) => message.parts as { type: string; toolCallId?: string }[];

describe("uiMessageFormat, for any message", () => {
  testProperties({ format, message: uiMessage, resultsStandApart: false });

  it("leaves out calls with their approvals and results, and nothing else", () => {
    fc.assert(
      fc.property(uiMessage, fc.constantFrom("call_1", "call_2"), (message, victim) => {
        const before = structuredClone(message);
        const copy = format.without(message, { toolCalls: (id) => id === victim });
        expect(message).toStrictEqual(before);
        const calls = format.toolCalls(message);
        const others = calls.filter(({ id }) => id !== victim);
        if (others.length === calls.length) {
          expect(copy).toBe(message);
          return;
        }
        if (copy === undefined) {
          expect(others).toEqual([]);
          return;
        }
        expect(format.toolCalls(copy)).toEqual(others);
        expect(format.toolResults(copy)).toEqual(
          format.toolResults(message).filter(({ id }) => id !== victim),
        );
        expect(partsOf(copy).filter((part) => part.toolCallId === undefined)).toEqual(
          partsOf(message).filter((part) => part.toolCallId === undefined),
        );
        expect(format.isEmpty(copy)).toBe(false);
      }),
    );
  });

  it("leaves out results and keeps their calls, which can be answered again", () => {
    fc.assert(
      fc.property(uiMessage, fc.constantFrom("call_1", "call_2"), (message, victim) => {
        const before = structuredClone(message);
        const copy = format.without(message, { toolResults: (id) => id === victim });
        expect(message).toStrictEqual(before);
        const results = format.toolResults(message);
        const others = results.filter(({ id }) => id !== victim);
        if (others.length === results.length) {
          expect(copy).toBe(message);
          return;
        }
        // A call stays, so that something always is left.
        expect(copy).toBeDefined();
        if (copy === undefined) return;
        expect(format.toolResults(copy)).toEqual(others);
        expect(format.toolCalls(copy)).toEqual(format.toolCalls(message));
        expect(format.approvals(copy)).toEqual(format.approvals(message));
        expect(() => format.encode(copy)).not.toThrow();
      }),
    );
  });

  it("has a call for each result, and a request for each response", () => {
    fc.assert(
      fc.property(uiMessage, (message) => {
        const ids = format.toolCalls(message).map(({ id }) => id);
        for (const { id } of format.toolResults(message)) expect(ids).toContain(id);
        const approvals = format.approvals(message);
        for (const approval of approvals) {
          if (approval.kind === "request") expect(ids).toContain(approval.toolCallId);
          else
            expect(
              approvals.some((one) => one.kind === "request" && one.approvalId === approval.approvalId),
            ).toBe(true);
        }
      }),
    );
  });
});

/** Without a provider's compactions. */
function readable(message: UIMessageLike): UIMessageLike {
  const keep = (part: AnyUIPart): AnyUIPart[] => {
    if (part.type !== "steering-message") return isCompaction(part) ? [] : [part];
    return [{ ...part, parts: (part.parts as AnyUIPart[]).flatMap(keep) }];
  };
  return { ...message, parts: (message.parts as unknown as AnyUIPart[]).flatMap(keep) };
}

const shaped = {
  message: uiMessage,
  readable,
  // A compaction of blanks stays.
  nestsText: (message: UIMessageLike) => !format.equals(readable(message), message),
};

describe("uiMessageFormat, for any message that is shaped", () => {
  testReshaping({ ...shaped, format });
});

describe("uiMessageFormat with converted data parts, for any message that is shaped", () => {
  const convertDataPart = ({ data }: { data: unknown }): unknown => {
    if (typeof data === "string") return { type: "text", text: data };
    return typeof data === "number" ? { type: "file", url: "data:,a", mediaType: "text/plain" } : undefined;
  };
  testReshaping({ ...shaped, format: uiMessageFormat({ convertDataPart }) });
});
