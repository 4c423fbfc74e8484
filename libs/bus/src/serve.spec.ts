import { allOperations, type AnyOperation, type Caller, serviceOf } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { describe, expect, it } from 'vitest';
import { remainingMs, unknownOutcomeDelayMs } from './deadline.ts';
import { heavyCallLimit } from './heavy-call-limit.ts';
import { implement, JsonText, type OperationRequest, reads, requireAllEndpoints, writes } from './implement.ts';

const endpoints = allOperations
  .filter((operation) => serviceOf(operation) === 'audit')
  .map((operation) => implement(operation, async () => null));

describe('the endpoints of a service', () => {
  it('are complete when each of its contracts has one', () => {
    expect(endpoints.length).toBeGreaterThan(5);
    expect(requireAllEndpoints('audit', endpoints)).toBe(endpoints);
  });

  it('are refused at start when a contract has none', () => {
    const without = endpoints.filter(({ operation }) => operation.subject !== 'call.audit.deprecated-search-events');
    expect(() => requireAllEndpoints('audit', without)).toThrow(
      'The audit service has no endpoint for deprecated-search-events. Implement it in apps/audit/src.',
    );
  });

  it('are refused at start when a contract has two', () => {
    expect(() => requireAllEndpoints('audit', [...endpoints, ...endpoints.slice(0, 1)])).toThrow(
      'has two endpoints for',
    );
  });
});

describe('an endpoint', () => {
  const headers: Record<string, string> = {};
  const request = {
    setHeader: (name: string, value: string) => void (headers[name] = value),
  } as unknown as OperationRequest<AnyOperation>;
  const [operation] = allOperations as readonly [AnyOperation];

  it('that reads replies with the JSON of a store as it is, and with its entity tag', async () => {
    const plain = await reads(operation, async () => '{ "a": 1 }').handle(request);
    expect([plain, headers]).toEqual([new JsonText('{ "a": 1 }'), {}]);
    const tagged = await reads(operation, async () => ({ json: '{}', tag: '7' })).handle(request);
    expect([tagged, headers]).toEqual([new JsonText('{}'), { ETag: '"7"' }]);
  });

  it('that writes runs in one transaction and replies with its result', async () => {
    const endpoint = writes(
      operation,
      (_request, job: (tx: { readonly id: number }) => Promise<unknown>) => job({ id: 3 }),
      async ({ id }) => ({ id }),
    );
    expect(await endpoint.handle(request)).toEqual({ id: 3 });
  });
});

const now = Date.UTC(2026, 10, 22);
const write = { timeoutMs: 10_000, isWrite: true };

describe('the deadline of a call', () => {
  it('leaves a call that was just sent its whole timeout', () => {
    expect(remainingMs({ ...write, sentAt: now }, now)).toBe(10_000);
  });

  it.each([1_000, -1_000])(
    'treats a call that was sent %s ms ago as new, because clocks may differ by as much',
    (ageMs) => {
      expect(remainingMs({ ...write, sentAt: now - ageMs }, now)).toBe(10_000);
      expect(remainingMs({ timeoutMs: 100, isWrite: true, sentAt: now - ageMs }, now)).toBe(100);
    },
  );

  it('includes the time that a call has waited in the queue', () => {
    expect(remainingMs({ ...write, sentAt: now - 4_000 }, now)).toBe(6_000);
  });

  it.each([true, false])('refuses a call that is read after its deadline (write: %s)', (isWrite) => {
    const read = () => remainingMs({ timeoutMs: 10_000, isWrite, sentAt: now - 10_000 }, now);
    expect(read).toThrow('read 10000 ms after it was sent, past its deadline, and was not begun');
  });

  it('refuses a write of a caller whose clock is ahead, because this process may have been paused', () => {
    const read = () => remainingMs({ ...write, sentAt: now + 1_001 }, now);
    expect(read).toThrow('the clocks of the machines must agree to within 1000 ms');
  });

  it('accepts a read of a caller whose clock is ahead', () => {
    expect(remainingMs({ timeoutMs: 10_000, isWrite: false, sentAt: now + 60_000 }, now)).toBe(10_000);
  });

  it('has the caller of a write wait until no service can commit it, whichever clock is ahead', () => {
    const clocksApartMs = 1_000;
    const oldestThatCountsAsNewMs = 1_000;
    expect(unknownOutcomeDelayMs).toBeGreaterThanOrEqual(clocksApartMs + oldestThatCountsAsNewMs);
  });
});

const callerOf = (id: number): Caller => ({ id, name: `user ${id}`, grants: [] });

/** Starts calls, which are named after their callers and run until they are ended. */
const startCalls = (maxRunning: number, maxWaitMs = 600_000) => {
  const limit = heavyCallLimit({ maxRunning, maxWaitMs });
  const running: { readonly id: number; readonly end: (error?: Error) => void }[] = [];
  const run = (id: number) =>
    limit.run(
      callerOf(id),
      () =>
        new Promise<void>((resolve, reject) => {
          running.push({ id, end: (error) => (error === undefined ? resolve() : reject(error)) });
        }),
    );
  return {
    run,
    runAll: (...ids: readonly number[]): void => {
      for (const id of ids) void run(id).catch(() => undefined);
    },
    end: (id: number, error?: Error): void => {
      const index = running.findIndex((call) => call.id === id);
      running.splice(index, 1)[0]?.end(error);
    },
    areRunning: (...ids: readonly number[]) => eventually(() => expect(running.map(({ id }) => id)).toEqual(ids)),
    endAll: () =>
      eventually(() => {
        for (const { end } of running.splice(0)) end();
        expect(limit.waiting).toBe(0);
      }),
  };
};

describe('heavy calls', () => {
  it('run up to their limit, of which one caller never has all, and first those of callers with the fewest', async () => {
    const calls = startCalls(3);
    calls.runAll(1, 1, 1, 1, 2, 1, 3);
    await calls.areRunning(1, 1, 2);
    calls.end(1);
    await calls.areRunning(1, 2, 3);
    calls.end(3);
    await calls.areRunning(1, 2, 1);
    calls.end(2);
    await calls.areRunning(1, 1);
    await calls.endAll();
  });

  it('free their place when they fail', async () => {
    const calls = startCalls(1);
    const failed = expect(calls.run(1)).rejects.toThrow('broken');
    calls.runAll(2);
    await calls.areRunning(1);
    calls.end(1, new Error('broken'));
    await failed;
    await calls.areRunning(2);
    await calls.endAll();
  });

  it('are refused with the time to wait when their turn does not come', async () => {
    const calls = startCalls(1, 1);
    calls.runAll(1);
    await calls.areRunning(1);
    await expect(calls.run(2)).rejects.toMatchObject({ kind: 'ServiceUnavailable', retryAfterSeconds: 5 });
    calls.end(1);
    calls.runAll(3);
    await calls.areRunning(3);
    await calls.endAll();
  });
});
