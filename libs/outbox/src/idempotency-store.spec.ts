import { type Bus, call, type CallContext, implement, inProcessBus, serve, systemContext } from '@bunting/bus';
import { type Caller, defineOperation, may, maySee, noAccess, notFound, refusal } from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { openLog } from '@bunting/runtime';
import { freshDatabase } from '@bunting/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Type } from 'typebox';
import { featureCreated } from '../test/test-producer.ts';
import { idempotencyTables, type OutboxProducer, outboxTables, startOutboxProducer } from './index.ts';

const declared = {
  operationId: 'test',
  summary: 'test',
  tag: 'Internal',
  permission: 'service',
  idempotent: false,
} as const;
const AddThing = defineOperation({
  ...declared,
  subject: 'call.features.add-thing' as const,
  body: Type.Object({ name: Type.String(), about: Type.Optional(Type.Unknown()) }),
  reply: Type.Object({ id: Type.Integer(), name: Type.String() }),
  errors: ['NotFoundError'],
});
const CountThing = defineOperation({
  ...declared,
  subject: 'call.features.count-thing' as const,
  body: Type.Object({ name: Type.String() }),
  reply: Type.Object({ text: Type.String() }),
});
const things = {
  name: '2026-11-21-things',
  statements: ['create table thing (id integer generated always as identity primary key, name text)'],
};
const mia: Caller = { id: 7, name: 'mia', tokenId: 'a', grants: [] };
const admin: Caller = { id: -42, name: 'admin', tokenId: 'b', grants: [] };

describe('a write with an Idempotency-Key', () => {
  let bus: Bus;
  let database: Database;
  let outboxProducer: OutboxProducer;
  let ended: () => Promise<void>;
  let hold: Promise<void> | undefined;
  let beforeReply: () => void = () => undefined;

  beforeEach(async () => {
    hold = undefined;
    beforeReply = () => undefined;
    const fresh = await freshDatabase();
    bus = inProcessBus();
    database = await openDatabase({
      url: fresh.url,
      name: 'features',
      migrations: [outboxTables, things, idempotencyTables],
    });
    outboxProducer = startOutboxProducer({
      producer: 'features' as const,
      database,
      bus,
      intervalMs: 60_000,
      retentionHours: 1,
      idempotencyRetentionHours: 24,
      metrics: undefined,
      log: openLog('silent'),
    });
    const add = implement(AddThing, (request) =>
      outboxProducer.work(request, async ({ query }, outbox) => {
        const { name } = request.body;
        if (name === '') throw refusal('ConflictError', 'no');
        if (name === 'guarded') {
          if (!maySee(request.caller, 'shop')) throw notFound('no');
          if (!may(request.caller, ['CREATE_FEATURE'], { project: 'shop' })) throw noAccess(['CREATE_FEATURE']);
        }
        const [row] = await query<{ id: number }>('insert into thing (name) values ($1) returning id', [name]);
        outbox.emit([featureCreated(name)]);
        await hold;
        request.setHeader('Said', name);
        return { id: row?.id ?? 0, name };
      }),
    );
    const count = implement(CountThing, async (request) => {
      const reply = async ({ id }: { id: number }) => {
        beforeReply();
        const [row] = await database.read<{ all: number }>({ text: 'select count(*) as all from thing' });
        return { text: `${id} of ${row?.all}` };
      };
      const before = await outboxProducer.replay(request, reply);
      if (before !== undefined) return before;
      const done = await outboxProducer.commitThenReply(
        request,
        async ({ query }) =>
          (await query<{ id: number }>('insert into thing (name) values ($1) returning id', [request.body.name]))[0],
        reply,
      );
      if (done === undefined) throw new Error('It was inserted.');
      return done;
    });
    const served = await serve(bus, [add, count, outboxProducer.endpoint], { checkReplies: true });
    ended = async () => {
      await served.stop();
      await outboxProducer.stop();
      await database.close();
      await bus.close();
      await fresh.drop();
    };
  });
  afterEach(() => ended());

  const context = (idempotencyKey?: string, caller: Caller = mia): CallContext => ({
    ...systemContext(60_000),
    caller,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  });
  const add = (key: string | undefined, name: string, caller?: Caller) =>
    call(bus, AddThing, { body: { name } }, context(key, caller));
  const names = async () =>
    (await database.read<{ name: string }>({ text: 'select name from thing order by id' })).map(({ name }) => name);

  it('runs once, and every retry gets the first reply with its metadata', async () => {
    const first = await bus.call(AddThing.subject, JSON.stringify({ body: { name: 'x' } }), context('k'));
    expect(first).toMatchObject({ reply: { headers: { Said: 'x' } } });
    const again = await bus.call(AddThing.subject, JSON.stringify({ body: { name: 'x' } }), context('k'));
    expect(again).toEqual({
      reply: { json: '{"id":1,"name":"x"}', headers: { Said: 'x', 'Idempotency-Replayed': 'true' } },
    });
    expect(await names()).toEqual(['x']);
    expect(await database.read({ text: 'select uid from outbox' })).toHaveLength(1);
  });

  it('is the same request for every order of the properties of its body', async () => {
    const send = (about: unknown) => call(bus, AddThing, { body: { name: 'x', about } }, context('k'));
    await send({ a: 1, b: [{ c: 2, d: 3 }] });
    expect(await send({ b: [{ d: 3, c: 2 }], a: 1 })).toEqual({ id: 1, name: 'x' });
    await expect(send({ b: [{ d: 3, c: 2 }], a: 2 })).rejects.toMatchObject({ kind: 'IdempotencyKeyReused' });
  });

  it('is refused when the key was used for another body or another operation', async () => {
    await add('k', 'x');
    await expect(add('k', 'y')).rejects.toMatchObject({ kind: 'IdempotencyKeyReused' });
    await expect(call(bus, CountThing, { body: { name: 'x' } }, context('k'))).rejects.toMatchObject({
      kind: 'IdempotencyKeyReused',
    });
    expect(await names()).toEqual(['x']);
  });

  it("is independent of another caller's key, and shared by the tokens of one user", async () => {
    await add('k', 'x');
    await add('k', 'y', admin);
    await add('k', 'z', { ...admin, tokenId: 'c' });
    await add('k', 'x', { ...mia, tokenId: 'd' });
    expect(await names()).toEqual(['x', 'y', 'z']);
  });

  it('is refused with Retry-After while the first attempt runs, and then gets its reply', async () => {
    let release: () => void = () => undefined;
    hold = new Promise((resolve) => (release = resolve));
    const both = [add('k', 'x'), add('k', 'x')];
    await expect(Promise.race(both)).rejects.toMatchObject({ kind: 'ConflictError', retryAfterSeconds: 1 });
    release();
    expect(await Promise.any(both)).toEqual({ id: 1, name: 'x' });
    expect(await add('k', 'x')).toEqual({ id: 1, name: 'x' });
    expect(await names()).toEqual(['x']);
  });

  it('runs again after a refusal, because nothing was stored', async () => {
    await expect(add('k', '')).rejects.toMatchObject({ kind: 'ConflictError' });
    expect(await add('k', 'x')).toMatchObject({ name: 'x' });
  });

  it('is replayed only while the caller has all permissions, and is a 404 or 403 afterwards', async () => {
    const creator: Caller = { ...mia, grants: [{ permission: 'CREATE_FEATURE', project: 'shop' }] };
    const first = await add('k', 'guarded', creator);
    expect(await add('k', 'guarded', creator)).toEqual(first);
    expect(await add('k', 'guarded', { ...mia, grants: [{ permission: 'ADMIN' }] })).toEqual(first);
    const elsewhere: Caller = { ...mia, grants: [{ permission: 'CREATE_FEATURE', project: 'bank' }] };
    for (const lost of [mia, elsewhere]) {
      await expect(add('k', 'guarded', lost)).rejects.toMatchObject({ kind: 'NoAccessError' });
    }
    for (const caller of [creator, mia]) {
      const blind = { ...caller, hiddenProjects: ['shop'] };
      await expect(add('k', 'guarded', blind)).rejects.toMatchObject({
        kind: 'NotFoundError',
        message: 'Could not find project with id shop',
      });
    }
    expect(await add('k', 'guarded', { ...creator, hiddenProjects: ['bank'] })).toEqual(first);
    expect(await names()).toEqual(['guarded']);
  });

  it('has one effect when fifty retries arrive concurrently', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, () => add('k', 'x').catch((error: unknown) => error)),
    );
    expect(await names()).toEqual(['x']);
    for (const outcome of outcomes) {
      if (outcome instanceof Error) expect(outcome).toMatchObject({ kind: 'ConflictError' });
      else expect(outcome).toEqual({ id: 1, name: 'x' });
    }
  });

  it('costs two statements, and nothing without a key', async () => {
    const costOf = async (job: () => Promise<unknown>) => {
      const before = database.statements;
      await job();
      return database.statements - before;
    };
    await add(undefined, 'x');
    await outboxProducer.stop();
    const without = await costOf(() => add(undefined, 'x'));
    expect(await costOf(() => add('k', 'x'))).toBe(without + 2);
  });

  it('gets a reply rebuilt from the stored state when the first attempt did not reply', async () => {
    beforeReply = () => {
      throw new Error('killed');
    };
    const count = () => call(bus, CountThing, { body: { name: 'x' } }, context('k'));
    await expect(count()).rejects.toMatchObject({ kind: 'InternalError' });
    beforeReply = () => undefined;
    expect(await count()).toEqual({ text: '1 of 1' });
    await add(undefined, 'y');
    expect(await count()).toEqual({ text: '1 of 1' });
  });

  it('stores neither its key nor its reply in readable form', async () => {
    await add('a-key-of-mine', 'a-secret');
    const text = 'select row_to_json(a)::text as row from idempotent_reply a';
    const rows = JSON.stringify(await database.read({ text }));
    expect(rows).toMatch(/add-thing/);
    expect(rows).not.toMatch(/a-key-of-mine|name\W+a-secret/);
    expect(await add('a-key-of-mine', 'a-secret')).toEqual({ id: 1, name: 'a-secret' });
  });

  it('is deleted by housekeeping after its retention', async () => {
    await add('old', 'x');
    await database.transaction(({ query }) =>
      query("update idempotent_reply set created_at = now() - interval '25 hours'"),
    );
    await add('young', 'y');
    await outboxProducer.runHousekeeping();
    await add('young', 'y');
    await add('old', 'x');
    expect(await names()).toEqual(['x', 'y', 'x']);
  });
});
