import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AnyOperation,
  type Caller,
  type ContractVersion,
  defineOperation,
  invalid,
  may,
  maySee,
  noAccess,
  type Refusal,
  refusal,
  type RefusalExtras,
  serviceOf,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { Type } from 'typebox';
import {
  type Bus,
  call,
  callForResponse,
  callIfSupported,
  type CallContext,
  compatibilityCheckOfReadiness,
  implement,
  JsonText,
  notModified,
  serve,
  type ServedCall,
} from '../src/index.ts';

const Greet = defineOperation({
  subject: 'call.features.greet',
  operationId: 'greet',
  summary: 'Greets',
  tag: 'Internal',
  permission: 'service',
  idempotent: false,
  params: Type.Object({ name: Type.String() }),
  body: Type.Optional(Type.Unknown()),
  reply: Type.Object({ text: Type.String() }),
});

const Look = { ...Greet, subject: 'call.features.look', idempotent: true } as const satisfies AnyOperation;

const mia: Caller = {
  id: 7,
  name: 'mia@bunting.example',
  grants: [{ permission: 'UPDATE_FEATURE', project: 'größe' }],
};
const context = (more: Partial<CallContext> = {}): CallContext => ({
  caller: mia,
  requestId: 'ré-1',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  timeoutMs: 60_000,
  ...more,
});

/** The behaviour of every transport. `open` returns a new connection to the same bus each time. */
export const describeBus = (
  name: string,
  start: () => Promise<{ open: () => Promise<Bus>; stop: () => Promise<void> }>,
): void => {
  describe(`the bus ${name}`, () => {
    let started: Awaited<ReturnType<typeof start>>;
    let bus: Bus;

    beforeEach(async () => {
      started = await start();
      bus = await started.open();
    });
    afterEach(async () => {
      await bus.close();
      await started.stop();
    });

    it('replies to a call with what the service returned', async () => {
      await serve(bus, [implement(Greet, async ({ params }) => ({ text: `Hello ${params.name} 👋` }))]);
      expect(await call(bus, Greet, { params: { name: 'Zoë' } }, context())).toEqual({ text: 'Hello Zoë 👋' });
    });

    it('passes the caller, the request id and the deadline to the service', async () => {
      const request: unknown[] = [];
      let waitsMs = Number.NaN;
      const greet = implement(Greet, async ({ caller, requestId, traceparent, idempotency, deadline, now }) => {
        request.push({
          caller,
          requestId,
          traceparent,
          idempotencyKey: idempotency?.key,
        });
        waitsMs = deadline.getTime() - now.getTime();
        return { text: '' };
      });
      await serve(bus, [greet]);
      await call(bus, Greet, { params: { name: 'x' } }, context({ idempotencyKey: 'idempotency ☂' }));
      const { traceparent } = context();
      expect(request).toEqual([{ caller: mia, requestId: 'ré-1', traceparent, idempotencyKey: 'idempotency ☂' }]);
      // What the call has taken on its way is subtracted.
      expect(waitsMs).toBeGreaterThan(0);
      expect(waitsMs).toBeLessThanOrEqual(context().timeoutMs);
    });

    it('transfers the expected and the current ETag', async () => {
      const Guarded = { ...Greet, ifMatch: 'feature' as const };
      const guarded = implement(Guarded, async ({ requireIfMatch }) => {
        requireIfMatch?.(['7 ☂', 'other']);
        return { text: '' };
      });
      await serve(bus, [guarded]);
      const send = (ifMatch?: '*' | readonly string[]) =>
        call(bus, Guarded, { params: { name: 'x' } }, context(ifMatch === undefined ? {} : { ifMatch }));
      for (const good of [undefined, '*', ['7 ☂'], ['x', 'other.of-a-reader']] as const) await send(good);
      const stale = { kind: 'PreconditionFailed', tag: '7 ☂', details: [{ path: '/headers/if-match' }] };
      for (const bad of [['8'], [], ['7']]) await expect(send(bad)).rejects.toMatchObject(stale);
    });

    it('refuses the reply of an operation that has not set the ETag that its contract promises', async () => {
      await serve(bus, [implement({ ...Greet, setsEntityTag: true as const }, async () => ({ text: 'untagged' }))]);
      await expect(call(bus, Greet, { params: { name: 'x' } }, context())).rejects.toMatchObject({
        kind: 'InternalError',
      });
    });

    it('transfers If-None-Match, so that an unchanged reply is not built', async () => {
      const known: boolean[][] = [];
      const tagged = implement(Greet, async ({ matchesIfNoneMatch, setHeader }) => {
        known.push(['7 ☂', 'other'].map(matchesIfNoneMatch));
        setHeader('ETag', '"7 ☂"');
        return matchesIfNoneMatch('7 ☂') ? notModified : { text: 'new' };
      });
      await serve(bus, [tagged], { checkReplies: true });
      const send = async (ifNoneMatch?: '*' | readonly string[]) => {
        const answer = await callForResponse(bus, Greet, { params: { name: 'x' } }, context({ ifNoneMatch }));
        return 'reply' in answer ? answer.reply : answer;
      };
      const headers = { ETag: '"7 ☂"' };
      for (const has of [undefined, [], ['8']] as const)
        expect(await send(has)).toEqual({ json: '{"text":"new"}', headers });
      for (const has of ['*', ['8', '7 ☂']] as const) expect(await send(has)).toEqual({ json: '', headers });
      const none = [false, false];
      expect(known).toEqual([none, none, none, [true, true], [true, false]]);
    });

    it('refuses a condition that the operation does not support', async () => {
      let request = 0;
      await serve(bus, [implement(Greet, async () => ({ text: String(++request) }))]);
      const called = call(bus, Greet, { params: { name: 'x' } }, context({ ifMatch: '*' }));
      await expect(called).rejects.toMatchObject({ kind: 'ValidationError', details: [{ path: '/headers/if-match' }] });
      expect(request).toBe(0);
    });

    it('transfers a refusal with its kind, message, details and permissions', async () => {
      const refusals = [
        invalid('The `/body/title` property must be string.', '/body/title'),
        noAccess(['UPDATE_FEATURE']),
      ];
      await serve(bus, [implement(Greet, async () => Promise.reject(refusals.shift()))]);
      await expect(call(bus, Greet, { params: { name: 'x' } }, context())).rejects.toMatchObject({
        kind: 'ValidationError',
        message: 'The `/body/title` property must be string.',
        details: [{ path: '/body/title' }],
      });
      await expect(call(bus, Greet, { params: { name: 'x' } }, context())).rejects.toMatchObject({
        kind: 'NoAccessError',
        permissions: ['UPDATE_FEATURE'],
      });
    });

    it('transfers everything that a refusal carries', async () => {
      const extras: Required<RefusalExtras> = {
        id: 'f00',
        details: [{ message: 'Sign in first.', path: '/headers/authorization' }],
        permissions: ['UPDATE_FEATURE'],
        retryAfterSeconds: 7,
        signInOptions: { path: '/auth/simple/login', type: 'password', defaultHidden: false, options: [] },
        tag: '7 ☂',
      };
      await serve(bus, [implement(Greet, () => Promise.reject(refusal('AuthenticationRequired', 'Who?', extras)))]);
      const refused = call(bus, Greet, { params: { name: 'x' } }, context()).catch((error: Refusal) => error.extras);
      expect(await refused).toEqual(extras);
    });

    it('returns only the id of an unexpected error, and logs the whole error in the service', async () => {
      const observed: ServedCall[] = [];
      const failing = implement(Greet, async () => Promise.reject(new Error('select secret from vault')));
      await serve(bus, [failing], { observe: (served) => observed.push(served) });
      const answer = await callForResponse(bus, Greet, { params: { name: 'x' } }, context());
      expect(answer).toMatchObject({ refusal: { kind: 'InternalError' } });
      expect(JSON.stringify(answer)).not.toContain('vault');
      expect(observed).toMatchObject([{ outcome: 'InternalError', defect: { message: 'select secret from vault' } }]);
      expect('refusal' in answer && answer.refusal.error.id).toBe(observed[0]?.errorId);
    });

    it('passes the id of an unexpected error on to the caller of the caller, so that the log of the service that failed has it', async () => {
      const served: ServedCall[] = [];
      const observe = (one: ServedCall) => void served.push(one);
      const look = implement(Look, async () => Promise.reject(new Error('a stack')));
      const greet = implement(Greet, async ({ params }) => call(bus, Look, { params }, context()));
      await serve(bus, [look, greet], { observe });
      const response = await callForResponse(bus, Greet, { params: { name: 'x' } }, context());
      expect(served).toMatchObject([{ operation: 'look', defect: expect.any(Error) }, { operation: 'greet' }]);
      expect(served.map(({ errorId }) => errorId)).toEqual(
        Array(2).fill('refusal' in response && response.refusal.error.id),
      );
    });

    it('records the checks that an idempotent write relied on, and not those of calls that it makes', async () => {
      const passed: unknown[] = [];
      const scope = { project: 'größe' };
      const look = implement(Look, async ({ caller }) => ({ text: String(may(caller, ['UPDATE_FEATURE'], scope)) }));
      const greet = implement(Greet, async ({ caller, params, idempotency }) => {
        const reply = await call(bus, Look, { params }, context({ caller }));
        passed.push(...(idempotency?.passedChecks ?? []));
        return reply;
      });
      await serve(bus, [look, greet]);
      const request = { params: { name: 'x' } };
      expect(await call(bus, Greet, request, context({ idempotencyKey: 'once' }))).toEqual({ text: 'true' });
      expect(passed).toEqual([]);
    });

    it('refuses a call without a responder immediately as unavailable', async () => {
      // The deadline is beyond the time limit of a test.
      const patient = context({ timeoutMs: 600_000 });
      await expect(call(bus, Greet, { params: { name: 'x' } }, patient)).rejects.toMatchObject({
        kind: 'ServiceUnavailable',
        retryAfterSeconds: 1,
      });
    });

    it('reports a service of an older version that lacks the operation', async () => {
      const served = await serve(bus, [implement(Look, async () => ({ text: '' }))]);
      await expect(call(bus, Greet, { params: { name: 'x' } }, context())).rejects.toMatchObject({
        kind: 'ServiceUnavailable',
        message: 'The features service runs an older version, without the operation greet. Upgrade it, and try again.',
      });
      expect(await callIfSupported(bus, Greet, { params: { name: 'x' } }, context())).toBeUndefined();
      await served.stop();
      const absent = expect.objectContaining({
        message: expect.stringMatching(/^No service answers call\.features\.greet/),
      });
      await expect(call(bus, Greet, { params: { name: 'x' } }, context())).rejects.toEqual(absent);
      await expect(callIfSupported(bus, Greet, { params: { name: 'x' } }, context())).rejects.toEqual(absent);
    });

    it.each([
      ['a read', Look, 'did not answer in time. Please try again.'],
      [
        'a write, which may have been executed',
        Greet,
        'did not answer in time. It may or may not have been executed, and will not be executed from now on. Check, and try again.',
      ],
    ])('refuses %s as unavailable after its timeout, and says what to do', async (_, operation, message) => {
      await serve(bus, [implement(operation, () => new Promise(() => undefined))]);
      await expect(call(bus, operation, { params: { name: 'x' } }, context({ timeoutMs: 50 }))).rejects.toMatchObject({
        kind: 'ServiceUnavailable',
        message: `${operation.subject} ${message}`,
      });
    });

    it.each([
      ['a read', Look],
      ['a write', Greet],
    ])('waits for %s that takes long, and runs it once', async (_, operation) => {
      let times = 0;
      const slow = implement(operation, async () => {
        times++;
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        return { text: 'at last' };
      });
      await serve(bus, [slow]);
      expect(await call(bus, operation, { params: { name: 'x' } }, context())).toEqual({ text: 'at last' });
      expect(times).toBe(1);
    });

    it('passes JSON text through unchanged, with its metadata', async () => {
      const greet = implement(Greet, async ({ setHeader }) => {
        setHeader('Bunting-Stale', '12');
        return new JsonText('{ "text" : "as PostgreSQL wrote it" }');
      });
      await serve(bus, [greet], { checkReplies: true });
      expect(await callForResponse(bus, Greet, { params: { name: 'x' } }, context())).toEqual({
        reply: { json: '{ "text" : "as PostgreSQL wrote it" }', headers: { 'Bunting-Stale': '12' } },
      });
    });

    it('refuses replies that violate their schema when CHECK_REPLIES is on', async () => {
      await serve(bus, [implement(Greet, async () => ({ text: 7 }) as never)], { checkReplies: true });
      await expect(call(bus, Greet, { params: { name: 'x' } }, context())).rejects.toMatchObject({
        kind: 'InternalError',
      });
    });

    it.each([{ permission: 'CREATE_TAG_TYPE' as const, project: 'größe' }, { permission: 'UPDATE_FEATURE' as const }])(
      'refuses a caller with the grant %j a permission of the whole instance before the endpoint is called',
      async (grant) => {
        await serve(bus, [implement({ ...Greet, permission: 'CREATE_TAG_TYPE' }, async () => ({ text: 'created' }))]);
        const asKim = (...grants: Caller['grants']) =>
          call(bus, Greet, { params: { name: 'x' } }, context({ caller: { id: 8, name: 'kim', grants } }));
        await expect(asKim(grant)).rejects.toMatchObject({ kind: 'NoAccessError', permissions: ['CREATE_TAG_TYPE'] });
        for (const permission of ['CREATE_TAG_TYPE', 'ADMIN'] as const)
          expect(await asKim({ permission })).toEqual({ text: 'created' });
      },
    );

    describe('with CHECK_REPLIES', () => {
      const http = { method: 'POST', url: '/tags/:name' } as const;
      const Tag = { ...Greet, permission: 'UPDATE_FEATURE', http } as const satisfies AnyOperation;
      const tagging = async (
        check: (caller: Caller) => void,
        declared: Partial<AnyOperation> = {},
        sent: Partial<CallContext> = {},
      ) => {
        const endpoint = implement({ ...Tag, ...declared }, async ({ caller }) => {
          check(caller);
          return { text: 'tagged' };
        });
        const served = await serve(bus, [endpoint], { checkReplies: true });
        try {
          return await call(bus, Tag, { params: { name: 'x' } }, context(sent));
        } finally {
          await served.stop();
        }
      };
      const inProject = (caller: Caller) => void may(caller, [Tag.permission], { project: 'größe' });
      const forgets = () => undefined;

      it.each([{}, { idempotencyKey: 'once' }])('a write that checks its permission succeeds (%j)', async (more) => {
        expect(await tagging(inProject, {}, more)).toEqual({ text: 'tagged' });
      });

      it.each([{}, { idempotencyKey: 'once' }])('a write that checks no permission is a defect (%j)', async (more) => {
        const ofAnother = (caller: Caller) => void may(caller, ['SKIP_CHANGE_REQUEST'], { project: 'größe' });
        for (const check of [forgets, ofAnother, (caller: Caller) => void maySee(caller, 'größe')])
          await expect(tagging(check, {}, more)).rejects.toMatchObject({ kind: 'InternalError' });
      });

      const conflicting = (caller: Caller) => {
        inProject(caller);
        throw refusal('ConflictError', 'It has changed.');
      };

      it('an error that the operation does not declare is a defect', async () => {
        await expect(tagging(conflicting)).rejects.toMatchObject({ kind: 'InternalError' });
        await expect(tagging(conflicting, { errors: ['ConflictError'] })).rejects.toMatchObject({
          kind: 'ConflictError',
        });
      });

      it('an error that the headers of the request, or concurrent writes, may lead to needs no declaration', async () => {
        const concurrent = (caller: Caller) => {
          inProject(caller);
          throw refusal('ConflictError', 'Others write it.', { retryAfterSeconds: 1 });
        };
        const conflict = { kind: 'ConflictError' };
        await expect(tagging(conflicting, {}, { idempotencyKey: 'once' })).rejects.toMatchObject(conflict);
        await expect(tagging(concurrent)).rejects.toMatchObject(conflict);
      });

      it.each<[string, Partial<AnyOperation>]>([
        ['reads', { http: { method: 'GET', url: '/tags' } }],
        ['has its project in the URL', { http: { method: 'POST', url: '/projects/:projectId/tags' } }],
        ['every caller may call', { permission: 'authenticated' }],
      ])('an operation that %s may leave the check to the gateway', async (_, more) => {
        expect(await tagging(forgets, more)).toEqual({ text: 'tagged' });
      });
    });

    it('distributes the calls of one operation among all its responders', async () => {
      const other = await started.open();
      const answered = new Set<string>();
      const named = (who: string) =>
        implement(Greet, async () => {
          answered.add(who);
          return { text: who };
        });
      await serve(bus, [named('one')]);
      await serve(other, [named('two')]);
      for (let calls = 0; calls < 200 && answered.size < 2; calls++)
        await call(bus, Greet, { params: { name: 'x' } }, context());
      expect(answered).toEqual(new Set(['one', 'two']));
      if (other !== bus) await other.close();
    });

    it('handles a limited number of calls concurrently and refuses further ones immediately', async () => {
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      const slow = implement(Greet, async () => {
        await released;
        return { text: 'done' };
      });
      await serve(bus, [slow], { maxConcurrent: 1 });
      const first = call(bus, Greet, { params: { name: 'x' } }, context());
      await eventually(async () => {
        await expect(call(bus, Greet, { params: { name: 'x' } }, context({ timeoutMs: 200 }))).rejects.toThrow(
          /too many concurrent calls/,
        );
      });
      release();
      expect(await first).toEqual({ text: 'done' });
    });

    it('finishes running calls before it stops', async () => {
      let begun: () => void = () => undefined;
      let release: () => void = () => undefined;
      const beginning = new Promise<void>((resolve) => (begun = resolve));
      const released = new Promise<void>((resolve) => (release = resolve));
      const slow = implement(Greet, async () => {
        begun();
        await released;
        return { text: 'done' };
      });
      const served = await serve(bus, [slow]);
      const request = call(bus, Greet, { params: { name: 'x' } }, context());
      await beginning;
      const stopped = served.stop();
      release();
      await stopped;
      expect(await request).toEqual({ text: 'done' });
      await expect(call(bus, Greet, { params: { name: 'x' } }, context())).rejects.toMatchObject({
        kind: 'ServiceUnavailable',
      });
    });

    it('names the services whose contract version does not suit the caller, and which one to upgrade', async () => {
      const compatible = (ours: ContractVersion) => compatibilityCheckOfReadiness(bus, 'gateway', ours)();
      const endpoint = implement(Greet, async () => ({ text: 'hello' }));
      await compatible({ current: 1, oldestSupported: 1 });
      const served = await serve(bus, [endpoint], { version: { current: 3, oldestSupported: 2 } });
      const service = serviceOf(Greet);
      await compatible({ current: 2, oldestSupported: 1 });
      await compatible({ current: 4, oldestSupported: 3 });
      await expect(compatible({ current: 1, oldestSupported: 1 })).rejects.toThrow(
        `The ${service} service supports version 2 of the contract and newer, and this process has 1. Upgrade this process.`,
      );
      await expect(compatible({ current: 5, oldestSupported: 4 })).rejects.toThrow(
        `The ${service} service has version 3 of the contract, and this process supports 4 and newer. Upgrade the ${service} service.`,
      );
      await served.stop();
    });

    it("wakes every subscriber of a producer's topic, in each process, and no others", async () => {
      const other = await started.open();
      const events = { producer: 'features', topic: 'event' };
      const woken = { here: 0, there: 0, states: 0, gateway: 0 };
      const subscriptions = [
        await bus.subscribe(events, () => void woken.here++),
        await other.subscribe(events, () => void woken.there++),
        await bus.subscribe({ producer: 'features', topic: 'state' }, () => void woken.states++),
        await bus.subscribe({ producer: 'gateway', topic: 'event' }, () => void woken.gateway++),
      ];
      await eventually(() => {
        bus.notify(events);
        expect(Math.min(woken.here, woken.there)).toBeGreaterThan(0);
      });
      expect([woken.states, woken.gateway]).toEqual([0, 0]);
      await subscriptions[0]?.stop();
      const { here, there } = woken;
      await eventually(() => {
        bus.notify(events);
        expect(woken.there).toBeGreaterThan(there + 1);
      });
      expect(woken.here).toBe(here);
      await Promise.all(subscriptions.slice(1).map((subscription) => subscription.stop()));
      if (other !== bus) await other.close();
    });

    it('refuses calls and ignores wake-ups once it is closed', async () => {
      await serve(bus, [implement(Greet, async () => ({ text: '' }))]);
      await bus.close();
      await expect(call(bus, Greet, { params: { name: 'x' } }, context())).rejects.toMatchObject({
        kind: 'ServiceUnavailable',
      });
      bus.notify({ producer: 'features', topic: 'event' });
      expect(() => bus.ready()).toThrow();
    });
  });
};
