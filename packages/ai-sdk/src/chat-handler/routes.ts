import { isChatId, isMessageId } from "./posted.ts";
import { noSuchChat, Refusal } from "./refusal.ts";

/** What a request asks for. */
export type Action =
  | { readonly name: "post" }
  | { readonly name: "list"; readonly query: URLSearchParams }
  | { readonly name: "page"; readonly id: string; readonly query: URLSearchParams }
  | { readonly name: "about" | "remove-chat" | "stop" | "tree" | "update"; readonly id: string }
  | { readonly name: "resume"; readonly id: string; readonly shownId: string | undefined }
  | { readonly name: "remove-message" | "restore"; readonly id: string; readonly messageId: string };

const noSuchPage = new Refusal(404, "No such page.");

/** Errors: a `Refusal` for a path or a method that there is not. */
export function actionOf({ method, url }: Request, path: string): Action {
  const { pathname, searchParams: query } = new URL(url);
  if (pathname !== path && !pathname.startsWith(`${path}/`)) throw noSuchPage;
  const [id, what, messageId, ...more] = pathname
    .slice(path.length + 1)
    .split("/")
    .map(decoded);
  if (more.length > 0 || (messageId !== undefined && what !== "messages" && what !== "versions"))
    throw noSuchPage;
  if (id === "" || id === undefined)
    return byMethod(method, { POST: { name: "post" }, GET: { name: "list", query } });
  if (!isChatId(id)) throw noSuchChat;
  switch (what) {
    case undefined:
      return byMethod(method, { GET: { name: "page", id, query }, DELETE: { name: "remove-chat", id } });
    case "tree":
      return byMethod(method, { GET: { name: "tree", id } });
    case "about":
      return byMethod(method, { GET: { name: "about", id }, POST: { name: "update", id } });
    case "stream":
      return byMethod(method, { GET: { name: "resume", id, shownId: shownIn(query) } });
    case "stop":
      return byMethod(method, { POST: { name: "stop", id } });
    case "messages":
      if (isMessageId(messageId))
        return byMethod(method, { DELETE: { name: "remove-message", id, messageId } });
      break;
    case "versions":
      if (isMessageId(messageId)) return byMethod(method, { POST: { name: "restore", id, messageId } });
  }
  throw noSuchPage;
}

/** Each segment by itself, so that an id may hold a slash. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw noSuchPage;
  }
}

/** No answer has another id. */
function shownIn(query: URLSearchParams): string | undefined {
  const shown = query.get("shown");
  return isMessageId(shown) ? shown : undefined;
}

function byMethod(method: string, actions: Readonly<Record<string, Action>>): Action {
  const action = Object.hasOwn(actions, method) ? actions[method] : undefined;
  if (action === undefined) throw new Refusal(405, `${Object.keys(actions).join(" or ")} is meant here.`);
  return action;
}
