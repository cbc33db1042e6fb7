import { createHash, randomUUID } from "node:crypto";
import type { Context } from "hono";
import { setCookie } from "hono/cookie";
import { parse } from "hono/utils/cookie";

const cookie = "session";

/**
 * Who asks: whoever has this browser's cookie. Put your own sign-in here; what matters is that the owner of a chat comes from
 * the session, and never from what a browser says.
 */
export function ownerOf(request: Request): string | undefined {
  const token = tokenOf(request);
  // Who reads the database, or a backup of it, cannot be that user.
  return token === undefined ? undefined : createHash("sha256").update(token).digest("hex");
}

/** Gives a browser its cookie, or a year more of the one it has. A script cannot read it, and another site cannot send it along. */
export function beginSession(context: Context): Response {
  const secure = process.env.SECURE_COOKIES === "1";
  const maxAge = 365 * 24 * 3600;
  const token = tokenOf(context.req.raw) ?? randomUUID();
  setCookie(context, cookie, token, { httpOnly: true, sameSite: "Lax", path: "/", maxAge, secure });
  return context.body(null, 204);
}

/** An empty cookie is none: all who send one would be the same user. */
function tokenOf({ headers }: Request): string | undefined {
  return parse(headers.get("cookie") ?? "", cookie)[cookie] || undefined;
}
