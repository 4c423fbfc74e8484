import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CallContext, callForResponse, type CallResponse } from '@bunting/bus';
import {
  type AnyOperation,
  type Caller,
  type Permission,
  type Refusal,
  refusal,
  unavailable,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { FastifyInstance } from 'fastify';
import {
  concurrencyLimit,
  type Principal,
  queryParser,
  type Quota,
  requireAdminApiAccess,
  requirePermission,
  sendRefusal,
} from '@bunting/http';
import type { MountOptions } from '../../http/mount-operation.ts';

/** The minimum milliseconds between two reads of a stream with `follow`, however often it is woken, and between retries. */
const minReadIntervalMs = 250;
/** Milliseconds between empty lines that keep an idle stream open through proxies. */
const heartbeatIntervalMs = 8_000;
/** How long a stream waits for a wake-up, which may be lost, before it reads: from the heartbeat on, and not all streams at once. */
function maxWaitMs(): number {
  return heartbeatIntervalMs + Math.random() * 2_000;
}
/** Milliseconds of outage of the service after which a stream is cut. */
const maxOutageMs = 30_000;

/** A reply of an operation whose items are streamed. */
interface Page {
  readonly items: readonly unknown[];
  readonly next: number;
  readonly atEnd: boolean;
}

interface LineSource {
  /** the JSON of the first page */
  readonly firstPage: string;
  /** Calls the operation for the page after an id. @throws Refusal once the caller may not continue */
  readonly readAfter: (after: number, waitsForCommits: boolean) => Promise<CallResponse>;
  /** Waits until there may be new items that the last read did not return; false if none were announced within the time. */
  readonly untilWoken: (timeoutMs: number) => Promise<boolean>;
  /** whether the stream waits for new items after the last one */
  readonly follow: boolean;
  readonly isOver: () => boolean;
  /** ends early when the gateway stops */
  readonly pause: (ms: number) => Promise<unknown>;
}

/** The page after an id; retries while the service is unavailable, at most `maxOutageMs`. Undefined once the stream is over. */
async function pageAfter(
  after: number,
  waitsForCommits: boolean,
  { readAfter, isOver, pause }: LineSource,
): Promise<Page | undefined> {
  for (const since = performance.now(); !isOver();) {
    const response = await readAfter(after, waitsForCommits);
    if ('reply' in response) return JSON.parse(response.reply.json) as Page;
    const { kind, error } = response.refusal;
    if (kind !== 'ServiceUnavailable' || performance.now() - since > maxOutageMs) throw new Error(error.message);
    await pause(minReadIntervalMs);
  }
  return undefined;
}

/** The lines of a stream, a page at a time: the next page is read when the lines of the one before have been taken. */
const ndjsonLines = async function* (source: LineSource): AsyncGenerator<string> {
  const { firstPage, follow, isOver, pause, untilWoken } = source;
  let page: Page | undefined = JSON.parse(firstPage) as Page;
  let sentAt = performance.now();
  let readAt = sentAt;
  while (page !== undefined) {
    const { items, next, atEnd }: Page = page;
    if (items.length > 0) {
      yield items.map((item) => `${JSON.stringify(item)}\n`).join('');
      sentAt = performance.now();
    } else if (performance.now() - sentAt >= heartbeatIntervalMs) {
      yield '\n';
      sentAt = performance.now();
    }
    if (atEnd && !follow) return;
    const isWoken: boolean = atEnd && (await untilWoken(maxWaitMs()));
    const restMs = readAt + minReadIntervalMs - performance.now();
    if (isWoken && restMs > 0) await pause(restMs);
    readAt = performance.now();
    page = isOver() ? undefined : await pageAfter(next, isWoken || !atEnd, source);
  }
};

const maxStreams = 200;
const maxStreamsPerKey = 5;
/** A user may have many tokens: the limit prevents one user from using up the streams of all others. */
const maxStreamsPerUser = 10;

const ndjsonContentType = 'application/x-ndjson; charset=utf-8';

function tooMany(holder: string, limit: number) {
  return (): Refusal =>
    refusal('RateLimitError', `${holder} may have ${limit} concurrent streams. Please end one of them first.`, {
      retryAfterSeconds: 10,
    });
}

/** The quotas that a stream counts against. Admin tokens belong to no user and count by token alone. */
function quotasOf({ id, tokenId }: Caller): readonly Quota[] {
  return [
    { key: `key ${tokenId ?? id}`, limit: maxStreamsPerKey, refuse: tooMany('A key', maxStreamsPerKey) },
    ...(id > 0 ? [{ key: `user ${id}`, limit: maxStreamsPerUser, refuse: tooMany('A user', maxStreamsPerUser) }] : []),
    {
      key: 'all clients',
      limit: maxStreams,
      refuse: () => unavailable('There are too many streams now. Please try again.', 10),
    },
  ];
}

/**
 * Adds the route of an operation whose response is a stream of NDJSON lines. The operation replies a page at a time, and the next page is
 * requested when the client has read the previous one: the gateway buffers one page per stream. The token is reauthenticated for each page.
 * A stream that follows waits for a wake-up before it reads on, so that an idle one reads once in 8 to 10 s.
 * A failure after the first page cuts the connection, so that no client treats the stream as complete.
 */
export function mountNdjsonStream(
  app: FastifyInstance,
  operation: AnyOperation,
  permissions: readonly Permission[],
  { bus, admit, authenticateAgain, config, openStreams, eventWakeUps }: MountOptions,
): void {
  const readQuery = queryParser(operation.query);
  const shutdown = new AbortController();
  app.addHook('preClose', (done) => {
    shutdown.abort();
    done();
  });
  const streams = concurrencyLimit();

  app.route({
    // HEAD is registered explicitly: otherwise the router would match it to the operation with a parameter in the last segment.
    method: ['GET', 'HEAD'],
    url: operation.http?.url ?? '',
    config: { isOperation: true },
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const contextOf = (principal: Principal): CallContext => {
        requireAdminApiAccess(principal);
        if (permissions.length > 0) requirePermission(principal.caller, permissions, {});
        return {
          caller: principal.caller,
          requestId: request.id,
          traceparent: request.exchange.traceparent,
          timeoutMs: config.GATEWAY_CALL_TIMEOUT_MS,
        };
      };
      const principal = await admit(request, reply);
      request.exchange.callerId = principal.caller.id;
      const context = contextOf(principal);
      const query = parse(
        operation.query,
        readQuery((request.query as { search: string }).search),
        '/query',
        'text',
      ) as { readonly follow?: boolean };
      const { follow = false } = query;
      const deadline = performance.now() + config.GATEWAY_MAX_STREAM_SECONDS * 1_000;
      const isOver = () => shutdown.signal.aborted || reply.raw.destroyed || performance.now() >= deadline;
      const pause = (ms: number) =>
        sleep(ms, undefined, { signal: shutdown.signal, ref: false }).catch(() => undefined);

      // Acquired before anything is awaited, so that concurrent requests cannot exceed the limit.
      const releasePermits = streams.acquire(quotasOf(principal.caller));
      openStreams?.inc({ kind: 'events' });
      let isReleased = false;
      const release = (): void => {
        if (isReleased) return;
        isReleased = true;
        releasePermits();
        openStreams?.dec({ kind: 'events' });
      };
      const left = new AbortController();
      // Released when the connection closes, even while a page is still being fetched.
      reply.raw.once('close', () => {
        release();
        left.abort();
      });
      // Taken before each read: a wake-up during the read may announce what it did not return.
      let seenWakeUps = eventWakeUps.count;
      // A read that does not follow waits until the log has what was committed: no wake-up announces it again.
      const firstQuery = { ...query, follow: false };
      const firstResponse = await callForResponse(bus, operation, { query: firstQuery }, context).catch(
        (error: unknown) => {
          release();
          throw error;
        },
      );
      if ('refusal' in firstResponse) {
        release();
        return sendRefusal(reply, firstResponse.refusal);
      }

      reply
        .code(200)
        .headers(firstResponse.reply.headers)
        .header('content-type', ndjsonContentType)
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no');
      if (request.method === 'HEAD') {
        release();
        return reply.send();
      }
      // Headers are sent immediately, so that a client sees the stream open before its first line.
      reply.raw.once('pipe', () => reply.raw.flushHeaders());
      const readAfter = async (after: number, waitsForCommits: boolean) => {
        seenWakeUps = eventWakeUps.count;
        const pageContext = contextOf(await authenticateAgain(request));
        // A read that does not follow waits at the end of the log until that has what was committed, such as the event that has woken the stream.
        return callForResponse(
          bus,
          operation,
          { query: { ...query, after, ...(waitsForCommits ? { follow: false } : {}) } },
          pageContext,
        );
      };
      const ended = AbortSignal.any([shutdown.signal, left.signal]);
      const untilWoken = (timeoutMs: number) => eventWakeUps.waitForMoreThan(seenWakeUps, timeoutMs, ended);
      const lines = ndjsonLines({ firstPage: firstResponse.reply.json, readAfter, untilWoken, follow, isOver, pause });
      const stream = Readable.from(lines, { objectMode: false, highWaterMark: 1 });
      // `close` is emitted in every case, also when the client left before the first line was read.
      stream.once('close', release);
      return reply.send(stream);
    },
  });
}

/** Wake-ups that any number of streams wait for. */
export function wakeUps() {
  let count = 0;
  const waiting = new Set<() => void>();
  return {
    /** the number of wake-ups so far */
    get count(): number {
      return count;
    },
    wake: (): void => {
      count++;
      for (const resume of waiting) resume();
    },
    /** Resolves with true once there are more wake-ups than `seen`, and with false after the timeout or when the signal is aborted. */
    waitForMoreThan: (seen: number, timeoutMs: number, signal: AbortSignal): Promise<boolean> =>
      new Promise((resolve) => {
        if (count > seen || signal.aborted) return resolve(count > seen);
        const end = (): void => {
          clearTimeout(timer);
          waiting.delete(end);
          signal.removeEventListener('abort', end);
          resolve(count > seen);
        };
        const timer = setTimeout(end, timeoutMs).unref();
        waiting.add(end);
        signal.addEventListener('abort', end);
      }),
  };
}
export type WakeUps = ReturnType<typeof wakeUps>;
