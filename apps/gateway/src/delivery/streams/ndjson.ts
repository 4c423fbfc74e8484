import { callForResponse, type CallContext } from '@bunting/bus';
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
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { concurrencyLimit, type Quota } from '../../admission/concurrency-limit.ts';
import { requireAdminApiAccess, requirePermission } from '../../authorisation/require-permission.ts';
import { sendRefusal } from '../../http/errors.ts';
import type { MountOptions } from '../../http/mount-operation.ts';
import type { Principal } from '../../domain/principal.ts';
import { queryParser } from '../../http/request/request.ts';
import { ndjsonLines } from '../../streaming/ndjson-lines.ts';

const maxStreams = 200;
const maxStreamsPerKey = 5;
/** A user may have many tokens: the limit prevents one user from using up the streams of all others. */
const maxStreamsPerUser = 10;

const ndjsonContentType = 'application/x-ndjson; charset=utf-8';

const tooMany = (holder: string, limit: number) => (): Refusal =>
  refusal('RateLimitError', `${holder} may have ${limit} concurrent streams. Please end one of them first.`, {
    retryAfterSeconds: 10,
  });

/** The quotas that a stream counts against. Admin tokens belong to no user and count by token alone. */
const quotasOf = ({ id, tokenId }: Caller): readonly Quota[] => [
  { key: `key ${tokenId ?? id}`, limit: maxStreamsPerKey, refuse: tooMany('A key', maxStreamsPerKey) },
  ...(id > 0 ? [{ key: `user ${id}`, limit: maxStreamsPerUser, refuse: tooMany('A user', maxStreamsPerUser) }] : []),
  {
    key: 'all clients',
    limit: maxStreams,
    refuse: () => unavailable('There are too many streams now. Please try again.', 10),
  },
];

/**
 * Adds the route of an operation whose response is a stream of NDJSON lines. The operation replies a page at a time, and the next page is
 * requested when the client has read the previous one: the gateway buffers one page per stream. The token is reauthenticated for each page.
 * A stream that follows waits for a wake-up before it reads on, so that an idle one reads once in 8 to 10 s.
 * A failure after the first page cuts the connection, so that no client treats the stream as complete.
 */
export const mountNdjsonStream = (
  app: FastifyInstance,
  operation: AnyOperation,
  permissions: readonly Permission[],
  { bus, admit, authenticate, config, openStreams, eventWakeUps }: MountOptions,
): void => {
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
      const firstResponse = await callForResponse(bus, operation, { query }, context).catch((error: unknown) => {
        release();
        throw error;
      });
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
      const readAfter = async (after: number, isWoken: boolean) => {
        seenWakeUps = eventWakeUps.count;
        const pageContext = contextOf(await authenticate(request.headers));
        // A read that does not follow waits until the log has what was committed, such as the event that has woken the stream.
        return callForResponse(
          bus,
          operation,
          { query: { ...query, after, ...(isWoken ? { follow: false } : {}) } },
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
};
