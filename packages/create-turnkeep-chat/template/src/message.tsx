import { getToolName, isToolUIPart } from "ai";
import { useState } from "react";
import { textOf } from "./chats.ts";
import type { ChatMessage } from "./transport.ts";

interface Props {
  readonly message: ChatMessage;
  /** What else stood in its place, if it was edited or answered again. */
  readonly versions: { readonly ids: readonly string[]; readonly shown: number } | undefined;
  readonly isBusy: boolean;
  readonly onEdit: (text: string) => void;
  readonly onRegenerate: () => void;
  readonly onDecide: (approvalId: string, approved: boolean) => void;
  readonly onVersion: (versionId: string) => void;
}

type Part = ChatMessage["parts"][number];

/** What is said of an answer that did not come to its end. */
const notes: Readonly<Record<string, string>> = {
  stopped: "Stopped.",
  failed: "This answer failed.",
  interrupted: "This answer was cut off.",
};

export function Message(props: Props) {
  const { message, isBusy, onEdit, onRegenerate, onDecide } = props;
  const { role, parts, metadata } = message;
  const { status = "", usage } = metadata ?? {};
  const note = notes[status];
  const [edited, setEdited] = useState<string>();
  if (edited !== undefined) {
    const save = () => {
      setEdited(undefined);
      if (edited.trim() !== "") onEdit(edited);
    };
    return (
      <article className={role}>
        <textarea
          aria-label="Edited message"
          rows={3}
          value={edited}
          onChange={(event) => setEdited(event.target.value)}
        />
        <p className="actions">
          <button type="button" onClick={save}>
            Save
          </button>
          <button type="button" onClick={() => setEdited(undefined)}>
            Cancel
          </button>
        </p>
      </article>
    );
  }
  return (
    <article className={role}>
      {parts.map((part, index) => (
        <PartView key={`${index}`} part={part} isBusy={isBusy} onDecide={onDecide} />
      ))}
      {note && <p className="note">{note}</p>}
      <p className="actions">
        <Versions {...props} />
        {usage && (
          <span>
            {usage.inputTokens} + {usage.outputTokens} tokens
          </span>
        )}
        {role === "user" ? (
          <button type="button" disabled={isBusy} onClick={() => setEdited(textOf(message))}>
            Edit
          </button>
        ) : (
          <button type="button" disabled={isBusy} onClick={onRegenerate}>
            Regenerate
          </button>
        )}
      </p>
    </article>
  );
}

function Versions({ versions, isBusy, onVersion }: Props) {
  if (versions === undefined) return null;
  const { ids, shown } = versions;
  const button = (label: string, sign: string, id: string | undefined) => (
    <button
      type="button"
      aria-label={label}
      disabled={isBusy || id === undefined}
      onClick={() => id !== undefined && onVersion(id)}
    >
      {sign}
    </button>
  );
  return (
    <>
      {button("Version before", "‹", ids[shown - 1])}
      <span>
        {shown + 1} of {ids.length}
      </span>
      {button("Version after", "›", ids[shown + 1])}
    </>
  );
}

function PartView({ part, isBusy, onDecide }: { readonly part: Part } & Pick<Props, "isBusy" | "onDecide">) {
  if (part.type === "text") return <p className="text">{part.text}</p>;
  if (!isToolUIPart(part)) return null;
  const { state } = part;
  return (
    <div className="tool">
      <code>
        {getToolName(part)} {JSON.stringify(part.input)}
      </code>
      {state === "approval-requested" ? (
        <p className="actions">
          <button type="button" disabled={isBusy} onClick={() => onDecide(part.approval.id, true)}>
            Approve
          </button>
          <button type="button" disabled={isBusy} onClick={() => onDecide(part.approval.id, false)}>
            Deny
          </button>
        </p>
      ) : (
        <p className="note">{resultOf(part)}</p>
      )}
    </div>
  );
}

function resultOf(part: Extract<Part, { toolCallId: string }>): string {
  if (part.state === "output-available") return String(part.output);
  if (part.state === "output-error") return part.errorText;
  return part.state === "output-denied" ? "Denied." : "…";
}
