/**
 * What every message format shares, ours and third parties': `derived` makes a `MessageFormat` of one traversal. The
 * rest helps to write the traversal, and what it cannot tell.
 *
 * @module
 */
export { base64Bytes, fromBase64, toBase64 } from "./base64.ts";
export { asText } from "./format/as-text.ts";
export { checkedCodec, invalidMessage } from "./format/checked-codec.ts";
export { type DataUrlFacts, dataUrlFacts } from "./format/data-url.ts";
export { derived, type OwnMembers } from "./format/derived.ts";
export { joinedMembers, joinedParts } from "./format/joined-parts.ts";
export { onlySets } from "./format/only-sets.ts";
export {
  type ApprovalShape,
  type CallShape,
  type RenameTool,
  type ResultShape,
  type TextKind,
  type Visit,
  Visitor,
  type VisitPart,
  withMember,
} from "./format/visitor.ts";
export { append, isObject } from "./values.ts";
