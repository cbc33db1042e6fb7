import { user } from "@turnkeep/core";
import { describeRule, everybody } from "./describe-rule.ts";
import { approval, approvedCall, call, joinedResults, otherCall, result } from "./samples.ts";

describeRule("tool-results", [
  {
    breaks: "a call without its result",
    messages: [user("a"), call, user("b")],
    index: 1,
    refusedBy: everybody,
  },
  {
    breaks: "a call at the end without its result",
    messages: [user("a"), call],
    index: 1,
    refusedBy: everybody,
  },
  {
    breaks: "a result without its call",
    messages: [user("a"), result],
    index: 1,
    refusedBy: everybody,
  },
  {
    breaks: "a result twice",
    messages: [user("a"), call, result, result],
    index: 3,
    refusedBy: everybody,
  },
  {
    breaks: "a message between a call and its result",
    messages: [user("a"), call, user("b"), result],
    index: 1,
    refusedBy: everybody,
  },
  {
    breaks: "two answers with calls before the results of both",
    messages: [user("a"), call, otherCall, joinedResults("toolu_1", "toolu_2")],
    index: 1,
    // It joins the two.
    refusedBy: everybody.filter((name) => name !== "anthropic"),
  },
  {
    breaks: "an approved call that has not run when the user goes on",
    messages: [user("a"), approvedCall, approval, user("b")],
    index: 1,
    refusedBy: everybody,
  },
  {
    breaks: "an approval last of a call that is not there",
    messages: [user("a"), call, approval],
    index: 1,
    refusedBy: everybody,
  },
]);
