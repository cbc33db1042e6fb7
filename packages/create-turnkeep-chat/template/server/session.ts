import { createHash, randomUUID } from "node:crypto";
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { parse } from "hono/utils/cookie";

const cookie = "session";

/**
 * Who asks: whoever has this browser's cookie. Put your own sign-in here; what matters is that the owner of a chat comes from
 * the session, and never from what a browser says.
 */
export function ownerOf({ headers }: Request): string | undefined {
  const token = parse(headers.get("cookie") ?? "", cookie)[cookie];
  // Who reads the database, or a backup of it, cannot be that user.
  return token === undefined ? undefined : createHash("sha256").update(token).digest("hex");
}

/** Gives a browser its cookie, if it has none. A script cannot read it, and another site cannot send it along. */
export function beginSession(context: Context): Response {
  if (getCookie(context, cookie) === undefined) {
    const secure = process.env.SECURE_COOKIES === "1";
    const maxAge = 365 * 24 * 3600;
    setCookie(context, cookie, randomUUID(), { httpOnly: true, sameSite: "Lax", path: "/", maxAge, secure });
  }
  return context.body(null, 204);
}
