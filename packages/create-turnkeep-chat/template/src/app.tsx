import type { ListedChats } from "@turnkeep/ai-sdk/client";
import { generateId } from "ai";
import { useCallback, useEffect, useState } from "react";
import { chatOf } from "./chats.ts";
import { Conversation } from "./conversation.tsx";
import { Sidebar } from "./sidebar.tsx";
import { onOtherTabs } from "./tabs.ts";
import { transport } from "./transport.ts";

/** The chat that the address names, or one that nobody has begun. */
const idInAddress = (): string => location.hash.slice(1) || generateId();

export function App() {
  const [id, setId] = useState(idInAddress);
  const [{ chats, cursor }, setList] = useState<ListedChats>({ chats: [] });
  const refresh = useCallback(() => {
    void transport.list().then(setList, () => undefined);
  }, []);
  const begin = () => {
    history.pushState(null, "", location.pathname);
    setId(generateId());
  };
  const showMore = async () => {
    const more = await transport.list({ cursor });
    setList({ ...more, chats: [...chats, ...more.chats] });
  };

  useEffect(() => {
    refresh();
    const onAddress = () => setId(idInAddress());
    window.addEventListener("popstate", onAddress);
    const leave = onOtherTabs(refresh);
    return () => {
      window.removeEventListener("popstate", onAddress);
      leave();
    };
  }, [refresh]);

  return (
    <div className="app">
      <Sidebar
        chats={chats}
        current={id}
        onBegin={begin}
        onChange={refresh}
        onMore={cursor === undefined ? undefined : showMore}
      />
      <Conversation key={id} chat={chatOf(id)} onChange={refresh} />
    </div>
  );
}
