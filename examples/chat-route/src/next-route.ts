// Next.js, as app/api/chat/[[...path]]/route.ts
import { handler } from "./chat.ts";

export { handler as DELETE, handler as GET, handler as POST };
