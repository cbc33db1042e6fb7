import { brokenAlike } from "./broken-alike.ts";
import { brokenCalls } from "./broken-calls.ts";
import { brokenClients } from "./broken-clients.ts";
import { brokenContents } from "./broken-contents.ts";
import { brokenConversations } from "./broken-conversations.ts";
import { brokenCorners } from "./broken-corners.ts";
import { brokenCorrections } from "./broken-corrections.ts";
import { brokenCrashes } from "./broken-crashes.ts";
import { brokenDamage } from "./broken-damage.ts";
import { brokenDeletes } from "./broken-deletes.ts";
import { brokenEdges } from "./broken-edges.ts";
import { brokenExpiry } from "./broken-expiry.ts";
import { brokenExpiryRaces } from "./broken-expiry-races.ts";
import { brokenFaults } from "./broken-faults.ts";
import { brokenFull } from "./broken-full.ts";
import { brokenHistory } from "./broken-history.ts";
import { brokenKeys } from "./broken-keys.ts";
import { brokenLarge } from "./broken-large.ts";
import { brokenLeftBehind } from "./broken-left-behind.ts";
import { brokenLimits } from "./broken-limits.ts";
import { brokenLists } from "./broken-lists.ts";
import { brokenLives } from "./broken-lives.ts";
import { brokenMembers } from "./broken-members.ts";
import { brokenNames } from "./broken-names.ts";
import { brokenProcesses } from "./broken-processes.ts";
import { brokenReads } from "./broken-reads.ts";
import type { BrokenStore } from "./broken-store.ts";
import { brokenTexts } from "./broken-texts.ts";
import { brokenVersions } from "./broken-versions.ts";
import { brokenWrites } from "./broken-writes.ts";

/** All of them: each has one fault, and each case finds one at least. */
export const brokenStores: readonly BrokenStore[] = [
  ...brokenWrites,
  ...brokenVersions,
  ...brokenReads,
  ...brokenCorrections,
  ...brokenHistory,
  ...brokenFull,
  ...brokenNames,
  ...brokenContents,
  ...brokenLives,
  ...brokenCalls,
  ...brokenDamage,
  ...brokenAlike,
  ...brokenTexts,
  ...brokenEdges,
  ...brokenDeletes,
  ...brokenExpiry,
  ...brokenKeys,
  ...brokenLarge,
  ...brokenLists,
  ...brokenConversations,
  ...brokenMembers,
  ...brokenClients,
  ...brokenCrashes,
  ...brokenCorners,
  ...brokenExpiryRaces,
  ...brokenProcesses,
  ...brokenLimits,
  ...brokenLeftBehind,
  ...brokenFaults,
];
