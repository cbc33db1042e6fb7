import { z } from "zod";
import { Refusal, tooLong } from "./refusal.ts";

/** What a browser says: something of the user's, about a conversation. */
export interface Posted {
  readonly id: string;
  readonly message: Question | Decisions;
  /** The newest message that the tab shows. */
  readonly seen?: string | undefined;
}

export interface Question {
  id: string;
  role: "user";
  parts: { type: "text"; text: string }[];
}

/** What the user decides on calls that wait, under the id of the message that holds them. */
export interface Decisions {
  id: string;
  role: "assistant";
  parts: { approval: { id: string; approved: boolean; reason?: string | undefined } }[];
}

const maxBytes = 256_000;
const id = z.string().regex(/^[\w-]{1,64}$/);

const question = z.object({
  id,
  role: z.literal("user"),
  parts: z
    .array(z.object({ type: z.literal("text"), text: z.string() }))
    .max(20)
    .refine((parts) => parts.some(({ text }) => text.trim() !== "")),
});

const decision = z.object({
  type: z.string().regex(/^(?:tool-.+|dynamic-tool)$/),
  state: z.literal("approval-responded"),
  approval: z.object({
    id: z.string().min(1).max(200),
    approved: z.boolean(),
    reason: z.string().max(1000).optional(),
  }),
});

const decisions = z.object({ id, role: z.literal("assistant"), parts: z.array(decision).min(1).max(100) });

/**
 * Members that are not named here are left out; other parts and roles are refused. To take files, add them here: as data URLs of the kinds that you expect,
 * because the SDK may fetch any other URL from inside your network.
 */
const schema = z.object({
  id,
  message: z.discriminatedUnion("role", [question, decisions]),
  seen: id.optional(),
});

/** Reads a request. Errors: a `Refusal` for one that is not as it must be. */
export async function readPosted(request: Request): Promise<Posted> {
  if (request.method !== "POST") throw new Refusal(405, "Post a message.");
  const { success, data } = schema.safeParse(jsonIn(await textOf(request)));
  if (!success) throw new Refusal(400, "This is no message that can be taken.");
  return data;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Stops reading at the limit, whatever length the request claims. */
async function textOf({ body, headers }: Request): Promise<string> {
  const claimed = Number(headers.get("content-length"));
  if (claimed > maxBytes) throw new Refusal(413, tooLong(claimed, maxBytes));
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Refusal(413, tooLong(undefined, maxBytes));
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
