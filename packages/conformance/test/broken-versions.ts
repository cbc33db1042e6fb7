import type { MemoryUpdate } from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";
import { applied, roundTrip } from "./reference-store.ts";

/** Versions of updates that nobody asked for. */
let extraVersions = 0;

/** A store that makes an update that conflicted over the version in place, where this is true of it and of the next seq. */
function insisting(
  isMade: (update: MemoryUpdate, nextSeq: number) => boolean,
): NonNullable<BrokenStore["wrap"]> {
  return (base) => ({
    async updateMessages(id, update, options) {
      try {
        await base.updateMessages(id, update, options);
      } catch (error) {
        const { version, nextSeq } = await base.getMessages(id, options);
        const isOver = version !== null && isMade(update, nextSeq);
        if (!isOver || !isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
        await base.updateMessages(id, { ...update, expected: version }, options);
      }
    },
  });
}

export const brokenVersions: readonly BrokenStore[] = [
  {
    fault: "acknowledges what lost among many",
    caughtBy: ["versions", "fifty writers that repeat after a conflict all land once"],
    wrap: (base) => {
      let underWay = 0;
      return {
        async updateMessages(id, update, options) {
          underWay++;
          const crowded = underWay > 5;
          try {
            await base.updateMessages(id, update, options);
          } catch (error) {
            if (!crowded || !isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
          } finally {
            underWay--;
          }
        },
      };
    },
  },
  {
    fault: "leaves out the messages that a reader knows and does not say so",
    caughtBy: [
      "versions",
      "a read that knows the present version has its messages or learns that it is unchanged",
    ],
    wrap: (base) => ({
      async getMessages(id, options) {
        const { unchanged: _, ...snapshot } = await base.getMessages(id, options);
        return snapshot;
      },
    }),
  },
  {
    fault: "compares the next seq instead of the version where it appends",
    caughtBy: ["versions", "an append conflicts if the head alone has changed since"],
    wrap: insisting(
      ({ expected, append, move, replace, head }, nextSeq) =>
        expected !== null &&
        append[0]?.seq === nextSeq &&
        move.length + replace.length === 0 &&
        head === undefined,
    ),
  },
  {
    fault: "lets the later of two updates of the head alone win",
    caughtBy: ["versions", "of two updates of the head alone exactly one wins"],
    wrap: insisting(
      (update, nextSeq) =>
        update.append.length + update.move.length + update.replace.length === 0 &&
        update.head !== undefined &&
        update.nextSeq === nextSeq,
    ),
  },
  {
    fault: "takes every version that a reader knows for the present one",
    caughtBy: ["versions", "a read that knows another version has the messages"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const { version } = await base.getMessages(id, options);
        return base.getMessages(
          id,
          version === null || !options?.known ? options : { ...options, known: version },
        );
      },
    }),
  },
  {
    fault: "says of a deleted memory that it is unchanged",
    caughtBy: ["versions", "a read that knows another version has the messages"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        return snapshot.version === null && options?.known ? { ...snapshot, unchanged: true } : snapshot;
      },
    }),
  },
  {
    fault: "ignores the expected version",
    caughtBy: ["versions", "an update of an earlier version conflicts"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const { version } = await base.getMessages(id);
        const expected = version === update.version ? update.expected : version;
        await base.updateMessages(id, { ...update, expected }, options);
      },
    }),
  },
  {
    fault: "swallows a conflict",
    caughtBy: ["versions", "an update of a version that never was conflicts"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        try {
          await base.updateMessages(id, update, options);
        } catch (error) {
          if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
        }
      },
    }),
  },
  {
    fault: "begins a memory over the one that is there",
    caughtBy: ["versions", "a beginning conflicts where a memory is"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        if (update.expected === null && memories.get(id)?.version !== update.version) memories.delete(id);
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "begins an absent memory whatever version is expected",
    caughtBy: ["versions", "an update of an absent memory conflicts and does not begin it"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const { version } = await base.getMessages(id);
        await base.updateMessages(id, version === null ? { ...update, expected: null } : update, options);
      },
    }),
  },
  {
    fault: "compares counters instead of versions",
    caughtBy: ["versions", "a memory that began again does not pass for the deleted one"],
    wrap: (base, { memories }) => {
      const counters = new Map<string, number>();
      return {
        async updateMessages(id, update, options) {
          const memory = memories.get(id);
          const known = update.expected === null ? 0 : (counters.get(update.expected) ?? -1);
          const current = memory === undefined ? 0 : (counters.get(memory.version) ?? 0);
          counters.set(update.version, known + 1);
          const same = known === current && memory?.version !== update.version;
          const expected = same ? (memory?.version ?? null) : update.expected;
          await base.updateMessages(id, { ...update, expected }, options);
        },
      };
    },
  },
  {
    fault: "looks at the version, then writes",
    caughtBy: ["versions", "of two updates of one version exactly one wins"],
    wrap: (base, { memories, now, tick }) => ({
      async updateMessages(id, update, options) {
        const before = memories.get(id);
        if (before === undefined || before.version !== update.expected) {
          return base.updateMessages(id, update, options);
        }
        await roundTrip();
        memories.set(id, {
          ...applied(before, update),
          updatedAt: now(),
          active: tick(),
          expiresAt: before.expiresAt,
        });
      },
    }),
  },
  {
    fault: "looks whether a memory is there, then begins it",
    caughtBy: ["versions", "of two beginnings exactly one wins"],
    wrap: (base, { memories, now, tick }) => ({
      async updateMessages(id, update, options) {
        if (update.expected !== null || memories.has(id)) return base.updateMessages(id, update, options);
        await roundTrip();
        const expiresAt = Number.POSITIVE_INFINITY;
        memories.set(id, { ...applied(undefined, update), updatedAt: now(), active: tick(), expiresAt });
      },
    }),
  },
  {
    fault: "refuses a replay",
    caughtBy: ["replay", "an update sent twice is applied once"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const again = memories.get(id)?.version === update.version;
        await base.updateMessages(
          id,
          again ? { ...update, version: `again-${extraVersions++}` } : update,
          options,
        );
      },
    }),
  },
  {
    fault: "applies a replay again",
    caughtBy: ["replay", "an update sent twice is applied once"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const memory = memories.get(id);
        if (memory?.version !== update.version || update.append.length === 0) {
          return base.updateMessages(id, update, options);
        }
        const append = update.append.map((message, index) => ({ ...message, seq: memory.nextSeq + index }));
        const nextSeq = memory.nextSeq + append.length;
        Object.assign(memory, { ...applied(memory, { ...update, append, nextSeq, move: [] }) });
      },
    }),
  },
  {
    fault: "takes an update without change for none",
    caughtBy: ["replay", "an update without change is one update too"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const { append, replace, move, head } = update;
        const empty = append.length + replace.length + move.length === 0 && head === undefined;
        if (update.expected !== null && empty) {
          const { version } = await base.getMessages(id);
          if (version === update.expected) return;
        }
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "remembers every version for replays",
    caughtBy: ["replay", "a replay after another commit conflicts"],
    wrap: (base) => {
      const versions = new Set<string>();
      return {
        async updateMessages(id, update, options) {
          if (versions.has(update.version)) return;
          await base.updateMessages(id, update, options);
          versions.add(update.version);
        },
      };
    },
  },
  {
    fault: "lets a replay begin a deleted memory again",
    caughtBy: ["replay", "a replay does not begin a deleted memory again"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const expected = memories.has(id) ? update.expected : null;
        await base.updateMessages(id, { ...update, expected }, options);
      },
    }),
  },
  {
    fault: "takes an early version for a replay even after a delete",
    caughtBy: ["replay", "a replay does not touch the memory that began after a delete"],
    wrap: (base) => {
      const versions = new Map<string, number>();
      return {
        async updateMessages(id, update, options) {
          if ((versions.get(update.version) ?? 0) > 0) return;
          await base.updateMessages(id, update, options);
          versions.set(update.version, 1);
        },
      };
    },
  },
  {
    fault: "moves once more when an update is repeated",
    caughtBy: ["replay", "an update that replaces and moves is applied once"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const memory = memories.get(id);
        const again = memory?.version === update.version;
        await base.updateMessages(id, update, options);
        if (again && update.replace.length > 0) memory.rows.shift();
      },
    }),
  },
];
