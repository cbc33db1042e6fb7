import { useEffect, useState } from "react";
import type { Context } from "./context.ts";

interface Props {
  readonly chatId: string;
  /** The id of the newest message: with it changes what the model is shown. */
  readonly newest: string | undefined;
  readonly isBusy: boolean;
}

/** What the model is shown of the chat, and how much of the budget that takes. */
export function ContextPanel({ chatId, newest, isBusy }: Props) {
  const [context, setContext] = useState<Context>();
  useEffect(() => {
    if (newest === undefined || isBusy) return;
    void fetch(`/api/context/${chatId}`).then(async (response) => {
      if (response.ok) setContext(await response.json());
    });
  }, [chatId, newest, isBusy]);
  if (context === undefined) return <aside className="context" />;
  const { tokens, maxTokens, messages } = context;
  return (
    <aside className="context">
      <h2>Context</h2>
      <meter min={0} max={maxTokens} value={tokens} />
      <p>
        {tokens.toLocaleString("en")} of {maxTokens.toLocaleString("en")} tokens
      </p>
      <ol>
        {messages.map(({ role, text, state, by, tokens }, index) => (
          <li key={`${index}`} className={state}>
            <b>{role}</b> {text}
            <small>{state === "shown" ? `${tokens} tokens` : `${state} (${by})`}</small>
          </li>
        ))}
      </ol>
    </aside>
  );
}
