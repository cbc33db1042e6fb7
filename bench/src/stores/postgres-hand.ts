import { randomUUID } from "node:crypto";
import type { ModelMessage } from "@turnkeep/core";
import type pg from "pg";
import type { Contender, Conversation, Window } from "./contender.ts";

/** The prefix of its tables, which are made as our store makes its own: the same columns, indexes and foreign key. */
export const handPrefix = "hand_";

const append = `
  with head as (
    update hand_memories h
    set version = $3, next_seq = $4::bigint + 1, live = h.live + int8multirange(int8range($4, $4, '[]')),
      updated_at = statement_timestamp(),
      active_at = case when h.active_at + interval '60 seconds' > statement_timestamp()
        then h.active_at else statement_timestamp() end
    where h.memory_id = $1 and h.version = $2 and h.next_seq <= $4
    returning h.memory_key)
  insert into hand_messages (memory_key, seq, id, superseded, created_at, payload, meta)
  select memory_key, $4, $5::text, false, $6::bigint, $7::text, $8::text from head`;

/** The head, and the newest messages unless the version is known. */
const read = `
  select h.version, h.next_seq as next, m.payload
  from hand_memories h
  left join lateral (
    select m.seq, m.payload from hand_messages m
    where m.memory_key = h.memory_key and h.version is distinct from $2
    order by m.seq desc limit $3) as m on true
  where h.memory_id = $1 order by m.seq`;

const meta = '{"tokens":{"o200k_base":100}}';

/**
 * What our store promises of a message, written by hand in one statement: it is stored with its id, time and count under a new
 * version, if the one before is still in place, and a read sees what others wrote. No check of what is given, no window.
 */
export function byHand(pool: pg.Pool, rowsOfTokens: number): Contender {
  const filled = new Set<string>();
  return {
    name: "the same by hand",
    kind: "hand",
    async fill(name, messages) {
      if (filled.has(name)) return;
      filled.add(name);
      await pool.query(
        `with head as (
           insert into hand_memories (memory_id, version, next_seq, live, updated_at, sweep_at)
           values ($1, 'first', $2::bigint + 1, int8multirange(int8range(1, $2, '[]')), now(), null) returning memory_key)
         insert into hand_messages (memory_key, seq, id, superseded, created_at, payload, meta)
         select memory_key, seq, $1 || seq, false, 0, payload, $4
         from head, unnest($3::text[]) with ordinality as given (payload, seq)`,
        [name, messages.length, messages.map((message) => JSON.stringify(message)), meta],
      );
    },
    open(name: string, window: Window): Conversation {
      const rows = "messages" in window ? window.messages : rowsOfTokens;
      let version: string | null = null;
      let next = 1;
      let shown: readonly ModelMessage[] = [];
      async function look(): Promise<readonly ModelMessage[]> {
        const found = await pool.query({ name: "look", text: read, values: [name, version, rows] });
        const [head] = found.rows;
        if (head === undefined || head.version === version) return shown;
        version = head.version;
        next = Number(head.next);
        shown = found.rows.map(({ payload }) => JSON.parse(payload));
        return shown;
      }
      return {
        async append(message) {
          for (;;) {
            if (version === null) await look();
            const made = randomUUID();
            const values = [
              name,
              version,
              made,
              next,
              randomUUID(),
              Date.now(),
              JSON.stringify(message),
              meta,
            ];
            const { rowCount } = await pool.query({ name: "append", text: append, values });
            if (rowCount === 1) {
              version = made;
              next++;
              shown = [...shown, message].slice(-rows);
              return false;
            }
            version = null;
          }
        },
        read: look,
      };
    },
    close: () => pool.end(),
  };
}
