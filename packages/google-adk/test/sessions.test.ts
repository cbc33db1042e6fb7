import {
  createEvent,
  createEventActions,
  type Event,
  InMemorySessionService,
  type Session,
  State,
} from "@google/adk";
import { inMemoryStore, isTurnkeepError } from "@turnkeep/core";
import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  integer,
  oneof,
  record,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { TurnkeepPlugin, TurnkeepSessionService } from "../src/index.ts";
import { stateOf } from "../src/record.ts";
import { names, saying, serviceOf } from "./world.ts";

const key = { appName: "app", userId: "ann" };

function setting(stateDelta: Record<string, unknown>, more: Partial<Event> = {}): Event {
  return createEvent({ author: "helper", actions: createEventActions({ stateDelta }), ...more });
}

describe("a session", () => {
  it("begins with a state and under an id of one's own, once", async () => {
    const service = serviceOf();
    const session = await service.createSession({ ...names, state: { city: "Oslo", "temp:draft": 1 } });
    expect(session).toMatchObject({ id: "chat-1", ...key, events: [] });
    expect(session.state).toEqual({ city: "Oslo" });
    expect(session.lastUpdateTime).toBeGreaterThan(0);
    expect(await service.getSession(names)).toEqual(session);
    const again = await service.createSession(names).catch((error: unknown) => error);
    expect(isTurnkeepError(again, "ID_CONFLICT")).toBe(true);
    expect(String(again)).toContain("Session with id chat-1 already exists");
    const [one, two] = [await service.createSession(key), await service.createSession(key)];
    expect(one.id).not.toBe(two.id);
    expect((await service.getOrCreateSession(names)).state).toEqual({ city: "Oslo" });
  });

  it("is begun once by two who begin it at the same time", async () => {
    const store = inMemoryStore();
    const results = await Promise.allSettled(
      ["a", "b", "c"].map((by) => serviceOf({ store }).createSession({ ...names, state: { by } })),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
    const won = results.find(({ status }) => status === "fulfilled") as PromiseFulfilledResult<Session>;
    expect((await serviceOf({ store }).getSession(names))?.state).toEqual(won.value.state);
  });

  it("keeps every event as it was, and hands out copies", async () => {
    const service = serviceOf();
    const session = await service.createSession(names);
    const event = saying("Hello", "user", { branch: "a.b", customMetadata: { page: 3 }, timestamp: 5 });
    expect(await service.appendEvent({ session, event })).toBe(event);
    expect(session.events).toEqual([event]);
    const read = (await service.getSession(names)) as Session;
    expect(read.events).toEqual([event]);
    expect(read.lastUpdateTime).toBe(5);
    expect(Object.getOwnPropertySymbols(read.events[0] as Event)).toEqual(
      Object.getOwnPropertySymbols(event),
    );
    (read.events[0] as Event).author = "nobody";
    (read.events[0] as Event).content?.parts?.push({ text: "!" });
    read.state.city = "Rome";
    expect((await service.getSession(names))?.events).toEqual([event]);
    expect((await service.getSession(names))?.state).toEqual({});
  });

  it("keeps no partial event and nothing temporary", async () => {
    const service = serviceOf();
    const session = await service.createSession(names);
    await service.appendEvent({ session, event: saying("Hel", "helper", { partial: true }) });
    expect(session.events).toEqual([]);
    await service.appendEvent({ session, event: setting({ "temp:step": 1, kept: 2 }) });
    const read = await service.getSession(names);
    expect(read?.state).toEqual({ kept: 2 });
    expect(read?.events.map(({ actions }) => ({ ...actions.stateDelta }))).toEqual([{ kept: 2 }]);
  });

  it("gives the newest events, and those after a time", async () => {
    const service = serviceOf();
    const session = await service.createSession({ ...names, state: { city: "Oslo" } });
    for (const timestamp of [100, 200, 300]) {
      await service.appendEvent({ session, event: setting({ [`at${timestamp}`]: true }, { timestamp }) });
    }
    const times = async (config: object) =>
      (await service.getSession({ ...names, config }))?.events.map(({ timestamp }) => timestamp);
    expect(await times({ numRecentEvents: 2 })).toEqual([200, 300]);
    expect(await times({ afterTimestamp: 100 })).toEqual([200, 300]);
    expect(await times({ afterTimestamp: 100, numRecentEvents: 1 })).toEqual([300]);
    expect(await times({ afterTimestamp: 300 })).toEqual([]);
    const config = { numRecentEvents: 1 };
    expect((await service.getSession({ ...names, config }))?.state).toEqual({
      city: "Oslo",
      at100: true,
      at200: true,
      at300: true,
    });
  });

  it("shares what begins with app: and user: with those who may see it", async () => {
    const service = serviceOf();
    const session = await service.createSession({ ...names, state: { "app:theme": "dark" } });
    await service.appendEvent({ session, event: setting({ "user:tone": "brief", "app:limit": 3, own: 1 }) });
    expect(session.state).toEqual({ "app:theme": "dark", "user:tone": "brief", "app:limit": 3, own: 1 });
    const state = async (userId: string, appName = "app") =>
      (await service.createSession({ appName, userId })).state;
    expect(await state("ann")).toEqual({ "app:theme": "dark", "user:tone": "brief", "app:limit": 3 });
    expect(await state("bob")).toEqual({ "app:theme": "dark", "app:limit": 3 });
    expect(await state("ann", "other")).toEqual({});
    await service.deleteSession(names);
    expect(await state("ann")).toMatchObject({ "user:tone": "brief" });
  });

  it("loses no key that two processes set at once", async () => {
    const store = inMemoryStore();
    const writers = await Promise.all(
      ["a", "b", "c"].map(async (name) => {
        const service = serviceOf({ store });
        return { name, service, session: await service.createSession({ ...key, sessionId: name }) };
      }),
    );
    await Promise.all(
      writers.map(async ({ name, service, session }) => {
        for (let n = 0; n < 10; n++) {
          await service.appendEvent({
            session,
            event: setting({ [`app:${name}${n}`]: n, [`user:${name}${n}`]: n }),
          });
        }
      }),
    );
    const { state } = await serviceOf({ store }).createSession(key);
    expect(Object.keys(state)).toHaveLength(60);
  });

  it("is changed by an event that comes again under its id, in its place", async () => {
    const service = serviceOf();
    const session = await service.createSession(names);
    const first = setting({ a: 1, b: 1 }, { id: "one" });
    await service.appendEvent({ session, event: first });
    await service.appendEvent({ session, event: setting({ a: 2 }, { id: "two" }) });
    const again = setting({ a: 3 }, { id: "one", author: "other" });
    await service.appendEvent({ session, event: again });
    await service.appendEvent({ session, event: again });
    const read = await service.getSession(names);
    expect(read?.events.map(({ id, author }) => [id, author])).toEqual([
      ["one", "other"],
      ["two", "helper"],
    ]);
    expect(session.events).toEqual(read?.events);
    expect(read?.state).toEqual({ a: 3, b: 1 });
    expect(session.state).toEqual({ a: 3, b: 1 });
  });

  it("has all that two have set who change one event at once", async () => {
    const store = inMemoryStore();
    const service = serviceOf({ store });
    const session = await service.createSession(names);
    await service.appendEvent({ session, event: setting({}, { id: "one" }) });
    await Promise.all(
      ["a", "b", "c"].map(async (key) => {
        const other = serviceOf({ store });
        const session = (await other.getSession(names)) as Session;
        await other.appendEvent({ session, event: setting({ [key]: 1 }, { id: "one", author: key }) });
      }),
    );
    const read = await service.getSession(names);
    expect(read?.state).toEqual({ a: 1, b: 1, c: 1 });
    expect(read?.events).toHaveLength(1);
  });

  it("no longer has a key that was set to undefined", async () => {
    const service = serviceOf();
    const state = JSON.parse('{"a":1,"b":1,"user:a":1,"app:a":1,"__proto__":1}');
    const session = await service.createSession({ ...names, state });
    const gone = Object.fromEntries(Object.keys(state).map((key) => [key, undefined]));
    const event = setting({ ...gone, b: 2, none: undefined });
    await service.appendEvent({ session, event });
    const read = await service.getSession(names);
    expect(Object.entries(read?.state ?? {})).toEqual([["b", 2]]);
    expect(read?.events).toEqual([event]);
    // Also by an event that comes again, and after that by another.
    await service.appendEvent({ session, event: setting({ b: undefined, "user:c": 1 }, { id: event.id }) });
    expect(Object.entries((await service.getSession(names))?.state ?? {})).toEqual([["user:c", 1]]);
    await service.appendEvent({ session, event: setting({ b: 3 }) });
    expect((await service.getSession(names))?.state).toEqual({ b: 3, "user:c": 1 });
  });

  it("has each event once, in the record's order, after appends of one session at once", async () => {
    const service = serviceOf();
    const session = await service.createSession(names);
    const ids = ["one", "two", "three", "four"];
    const appends = ids.map((id) => service.appendEvent({ session, event: setting({ last: id }, { id }) }));
    appends.push(service.appendEvent({ session, event: { id: "bad", content: "bad" } as never }));
    expect((await Promise.allSettled(appends)).at(-1)?.status).toBe("rejected");
    await service.appendEvent({ session, event: setting({}, { id: "five" }) });
    expect(session.events.map(({ id }) => id)).toEqual([...ids, "five"]);
    expect(session).toEqual(await service.getSession(names));
  });

  it("ends as the record does where another's event comes just behind one's own", async () => {
    const store = inMemoryStore();
    const [service, other] = [serviceOf({ store }), serviceOf({ store })];
    const session = await service.createSession(names);
    const theirs = (await other.getSession(names)) as Session;
    const memory = service.memory(names);
    const transaction = memory.transaction.bind(memory);
    service.memory = () =>
      Object.assign(Object.create(memory), {
        historyPages: memory.historyPages.bind(memory),
        transaction: async (...args: Parameters<typeof transaction>) => {
          await transaction(...args);
          const event = setting({ a: "theirs" }, { id: "theirs" });
          await other.appendEvent({ session: theirs, event });
        },
      });
    await service.appendEvent({ session, event: setting({ a: "own" }, { id: "own" }) });
    expect(session.events.map(({ id }) => id)).toEqual(["own", "theirs"]);
    expect(session.state).toEqual({ a: "theirs" });
    expect((await other.getSession(names))?.state).toEqual({ a: "theirs" });
  });

  it("keeps what was set since, where an event brings an older value of a key", async () => {
    const service = serviceOf();
    const session = await service.createSession(names);
    const [first, second] = [createEventActions(), createEventActions()];
    new State(session.state, first.stateDelta).set("a", "older");
    new State(session.state, second.stateDelta).set("a", "newer");
    await service.appendEvent({ session, event: createEvent({ author: "helper", actions: first }) });
    expect(session.state).toEqual({ a: "newer" });
    await service.appendEvent({ session, event: createEvent({ author: "helper", actions: second }) });
    expect((await service.getSession(names))?.state).toEqual({ a: "newer" });
  });

  it("shares nothing that comes with an event that is refused", async () => {
    const service = serviceOf();
    const session = await service.createSession(names);
    const question = saying("Hello");
    await service.appendEvent({ session, event: question });
    const shared = { "user:a": 1, "app:a": 1 };
    const bad = { ...setting(shared), content: { role: "system", parts: [] } };
    await expect(service.appendEvent({ session, event: bad })).rejects.toMatchObject({
      code: "INVALID_MESSAGE",
    });
    // It would be an entry that is no event.
    await expect(
      service.appendEvent({ session, event: setting(shared, { id: "turnkeep:1" }) }),
    ).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
    await service.memory(names).rewind(question.id);
    for (const change of ["rewound", "deleted", "begun anew"]) {
      if (change === "deleted") await service.deleteSession(names);
      if (change === "begun anew") await service.createSession(names);
      const refused = service.appendEvent({ session, event: setting(shared) });
      await expect(refused, change).rejects.toMatchObject({ code: "NOT_FOUND" });
    }
    expect((await service.getSession(names))?.state).toEqual({});
  });

  it("is refused where a name is missing, so that no one reaches what others share", async () => {
    const service = serviceOf();
    await service.createSession({ ...names, state: { "user:tone": "brief", "app:theme": "dark" } });
    const nameless = { ...names, sessionId: undefined as never };
    const anonymous = { ...names, userId: undefined as never, sessionId: "ann" };
    for (const call of [
      () => service.deleteSession(nameless),
      () => service.getSession(nameless),
      () => service.createSession(anonymous),
      () => service.getSession(anonymous),
      async () => service.owner(anonymous),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: "INVALID_OPTION" });
    }
    expect((await service.getSession(names))?.state).toEqual({ "user:tone": "brief", "app:theme": "dark" });
  });

  it("of another is not in a user's list, also where its memory was given to them", async () => {
    const service = serviceOf();
    const bob = { appName: "app", userId: "bob" };
    await service.createSession(names);
    await service.memories.assign({ from: service.owner(names), to: service.owner(bob) });
    expect((await service.listSessions(bob)).sessions).toEqual([]);
  });

  it("has a state of any number of steps", () => {
    const steps = Array.from({ length: 300_000 }, (_, n) => ({ event: undefined, delta: { n } }));
    expect(stateOf({ steps })).toEqual({ n: 299_999 });
  });

  it("that is gone takes no event, and nothing of it", async () => {
    const service = serviceOf();
    const session = await service.createSession(names);
    await service.deleteSession(names);
    await service.deleteSession(names);
    expect(await service.getSession(names)).toBeUndefined();
    for (const event of [saying("Hello"), setting({ "app:a": 1, "user:a": 1 })]) {
      await expect(service.appendEvent({ session, event })).rejects.toMatchObject({ code: "NOT_FOUND" });
    }
    expect((await service.createSession(names)).state).toEqual({});
    // It is another session now.
    await expect(service.appendEvent({ session, event: saying("Hello") })).rejects.toThrow(
      "chat-1 not found",
    );
    const stranger = { ...session, events: [] };
    await service.appendEvent({ session: stranger, event: saying("Hello") });
    expect((await service.getSession(names))?.events).toHaveLength(1);
  });

  it("keeps keys that mean something to JavaScript as keys, and is no one else's by its names", async () => {
    const service = serviceOf();
    const state = JSON.parse('{"__proto__":{"admin":true},"user:__proto__":1}');
    const session = await service.createSession({ ...names, state });
    expect(Object.hasOwn(session.state, "__proto__")).toBe(true);
    await service.appendEvent({ session, event: setting(JSON.parse('{"__proto__":{"admin":false}}')) });
    const read = await service.getSession(names);
    expect(Object.entries(read?.state ?? {})).toEqual([
      ["__proto__", { admin: false }],
      ["user:__proto__", 1],
    ]);
    expect("admin" in (read?.state ?? {})).toBe(false);
    const alike = [
      { appName: "a/b", userId: "c", sessionId: "d" },
      { appName: "a", userId: "b/c", sessionId: "d" },
      { appName: "a", userId: "b", sessionId: "c/d" },
      { appName: "a%2Fb", userId: "c", sessionId: "d" },
      { appName: "__proto__", userId: "", sessionId: "d" },
    ];
    for (const one of alike) await service.createSession(one);
    for (const { appName, userId, sessionId } of alike) {
      const { sessions } = await service.listSessions({ appName, userId });
      expect(sessions.map(({ id }) => id)).toEqual([sessionId]);
    }
  });

  it("is listed by its last update, beside what the application says of it", async () => {
    const service = serviceOf();
    for (const [sessionId, timestamp] of [
      ["one", 3000],
      ["two", 1000],
      ["three", 2000],
    ] as const) {
      const session = await service.createSession({ ...key, sessionId });
      await service
        .memory({ ...key, sessionId })
        .update((before) => ({ ...(before as object), title: sessionId }));
      await service.appendEvent({ session, event: saying("Hello", "user", { timestamp }) });
    }
    await service.createSession({
      ...key,
      userId: "bob",
      state: { "user:tone": "brief", "app:theme": "dark" },
    });
    const ids = async (query: object) =>
      (await service.listSessions({ ...key, ...query })).sessions.map(({ id }) => id);
    expect(await ids({ order: "asc" })).toEqual(["two", "three", "one"]);
    expect(await ids({ order: "desc", limit: 2 })).toEqual(["one", "three"]);
    expect(await ids({ order: "desc", limit: 2, page: 2, offset: 0 })).toEqual(["two"]);
    expect(await service.listSessions({ ...key, order: "asc", limit: 2, offset: 1 })).toMatchObject({
      sessions: [{ id: "three", events: [], state: {} }, { id: "one" }],
      page: 1,
      totalItems: 3,
      totalPages: 2,
    });
    expect((await service.listSessions({ appName: "app" })).totalItems).toBe(4);
    const { memories } = await service.memories.list({ owner: service.owner(key) });
    expect(memories.map(({ data }) => (data as { title: string }).title).sort()).toEqual([
      "one",
      "three",
      "two",
    ]);
  });

  it("is erased with its user", async () => {
    const service = serviceOf();
    const session = await service.createSession(names);
    await service.appendEvent({ session, event: setting({ "user:tone": "brief" }) });
    await service.memories.erase({ owner: service.owner(names) });
    expect((await service.createSession(names)).state).toEqual({});
  });
});

describe("options", () => {
  it("says what is wrong", () => {
    expect(() => serviceOf({ windows: {} } as never)).toThrow("windows");
    const options = { store: inMemoryStore(), profile: {} };
    expect(() => new TurnkeepSessionService(options)).toThrow("TurnkeepPlugin");
    expect(() => new TurnkeepPlugin({ sessionService: new InMemorySessionService() as never })).toThrow(
      "TurnkeepSessionService",
    );
    expect(() => new TurnkeepPlugin({ sessionService: serviceOf(), window: {} } as never)).toThrow("window");
  });
});

describe("beside ADK's service in memory", () => {
  const call = record({
    call: constantFrom("create", "append", "append", "append", "get", "list", "delete"),
    sessionId: constantFrom("one", "two"),
    userId: constantFrom("ann", "bob/ann"),
    deltas: array(
      record({
        key: constantFrom("a", "b", "user:a", "app:a", "temp:a"),
        value: oneof(integer(), constant(null), boolean()),
      }),
      { maxLength: 3 },
    ),
    eventId: constantFrom("e1", "e2", "e3", "e4", "e5"),
    partial: boolean(),
    recent: integer({ min: 0, max: 3 }),
    order: constantFrom("asc" as const, "desc" as const),
    limit: integer({ min: 0, max: 3 }),
  });
  type Call = typeof call extends Arbitrary<infer Made> ? Made : never;

  it.each([
    { of: "without a window", window: undefined },
    { of: "with a window", window: { maxMessages: 3 } },
  ])("gives the same answers to the same calls, $of", async ({ window }) => {
    await assert(
      asyncProperty(array(call, { maxLength: 25 }), async (calls) => {
        const services = [serviceOf({ window }), new InMemorySessionService()] as const;
        const held = services.map(() => new Map<string, Session>());
        for (const [at, call] of calls.entries()) {
          const answers = services.map((service, which) =>
            answerOf(service, held[which] as Map<string, Session>, call, at),
          );
          const [ours, theirs] = await Promise.all(answers);
          expect(ours).toEqual(theirs);
        }
      }),
      { numRuns: Math.min(Number(process.env.TURNKEEP_PROPERTY_RUNS || 40), 300) },
    );
  });

  async function answerOf(
    service: InMemorySessionService | TurnkeepSessionService,
    sessions: Map<string, Session>,
    { call, sessionId, userId, deltas, eventId, partial, recent, order, limit }: Call,
    at: number,
  ): Promise<unknown> {
    const names = { appName: "app", userId, sessionId };
    const place = `${userId} ${sessionId}`;
    const session = sessions.get(place);
    const delta = Object.fromEntries(deltas.map(({ key, value }) => [key, value]));
    if (call === "create" && session === undefined) {
      // ADK's own two services disagree on what is shared from the beginning.
      const state = Object.fromEntries(Object.entries(delta).filter(([key]) => !/^(app|user):/.test(key)));
      const begun = await service.createSession({ ...names, state });
      sessions.set(place, begun);
      return timeless(begun);
    }
    if (call === "append" && session !== undefined) {
      const event = setting(delta, { id: eventId, timestamp: 1000 + at, author: `by ${at}`, partial });
      // ADK's service in memory takes the time and the shared keys of a partial event; the one over a database nothing.
      const isOurs = service instanceof TurnkeepSessionService;
      if (isOurs || !partial) await service.appendEvent({ session, event });
      return timeless(session);
    }
    if (call === "list") {
      const { sessions, ...counts } = await service.listSessions({ appName: "app", userId, order, limit });
      // A session without events was begun by the clock.
      return { ...counts, ids: sessions.length < counts.totalItems || sessions.map(({ id }) => id).sort() };
    }
    if (call === "delete") {
      sessions.delete(place);
      return service.deleteSession(names);
    }
    const read = await service.getSession({ ...names, config: { numRecentEvents: recent } });
    if (read !== undefined && recent === 0) sessions.set(place, read);
    return read && timeless(read);
  }

  /** Without the time of the clock at which a session without events was begun. */
  function timeless({ events, lastUpdateTime, state, ...names }: Session): object {
    const time = lastUpdateTime < 10_000 ? lastUpdateTime : undefined;
    return { ...names, state: { ...state }, events: JSON.parse(JSON.stringify(events)), time };
  }
});
