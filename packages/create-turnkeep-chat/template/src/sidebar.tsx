import type { ListedChats } from "@turnkeep/ai-sdk/client";
import { tellTabs } from "./tabs.ts";
import { transport } from "./transport.ts";

interface Props {
  readonly chats: ListedChats["chats"];
  readonly current: string;
  readonly onBegin: () => void;
  readonly onChange: () => void;
  readonly onMore: (() => void) | undefined;
}

export function Sidebar({ chats, current, onBegin, onChange, onMore }: Props) {
  const remove = async (id: string) => {
    await transport.deleteChat(id).catch(() => undefined);
    tellTabs(id);
    if (id === current) onBegin();
    onChange();
  };
  return (
    <nav className="sidebar">
      <button type="button" onClick={onBegin}>
        New chat
      </button>
      <ul>
        {chats.map(({ id, title, updatedAt }) => (
          <li key={id} className={id === current ? "current" : undefined}>
            <a href={`#${id}`} title={new Date(updatedAt).toLocaleString()}>
              {title ?? "New chat"}
            </a>
            <button type="button" aria-label={`Delete ${title ?? "chat"}`} onClick={() => void remove(id)}>
              ×
            </button>
          </li>
        ))}
      </ul>
      {onMore && (
        <button type="button" onClick={onMore}>
          More
        </button>
      )}
    </nav>
  );
}
