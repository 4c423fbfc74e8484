import { type CallResponse, callForResponse, type CallContext } from '@bunting/bus';
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
import { requireAdministrator, requirePermission } from '../authentication/authenticate.ts';
import { concurrencyLimit, type Quota } from '../admission/concurrency-limit.ts';
import { sendRefusal } from '../http/http-errors.ts';
import type { MountOptions } from '../http/mount.ts';
import type { Principal } from '../persistence/tokens/token-lookup.ts';
import { queryParser } from '../http/request/query.ts';

/** How often to look for what is new, for who follows. */
const pollIntervalMs = 250;
/** How often to show who follows, and what stands between, that the connection is alive. */
const heartbeatIntervalMs = 10_000;
/** How long a service may be away before who reads is told to come again. */
const maxOutageMs = 30_000;
const maxStreams = 200;
const maxStreamsPerKey = 5;
/** A user may have many keys: no user takes the places of all others. */
const maxStreamsPerUser = 10;

export const ndjsonContentType = 'application/x-ndjson; charset=utf-8';

const tooMany = (whose: string, limit: number) => (): Refusal =>
  refusal('RateLimitError', `${whose} may have ${limit} streams at once. Please end one of them first.`, {
    retryAfterSeconds: 10,
  });

/** The shares that a stream is counted under. Admin tokens are no user, and are counted by token alone. */
const quotasOf = ({ id, tokenId }: Caller): readonly Quota[] => [
  { holder: `key ${tokenId ?? id}`, limit: maxStreamsPerKey, refuse: tooMany('A key', maxStreamsPerKey) },
  ...(id > 0 ? [{ holder: `user ${id}`, limit: maxStreamsPerUser, refuse: tooMany('A user', maxStreamsPerUser) }] : []),
  {
    holder: 'everyone',
    limit: maxStreams,
    refuse: () => unavailable('There are too many streams now. Please try again.', 10),
  },
];

interface Page {
  readonly items: readonly unknown[];
  readonly next: number;
  readonly atEnd: boolean;
}

/**
 * Gives an operation its address whose answer is a stream of lines. The operation answers a page at a time, which is asked for
 * when the client has taken the one before: nothing piles up here, however slow the client and however long the stream.
 * With each page the key is judged anew; what fails after the first page cuts the connection, so that nobody takes the
 * stream for complete.
 */
export const mountLineStream = (
  app: FastifyInstance,
  operation: AnyOperation,
  wanted: readonly Permission[],
  { bus, admit, authenticate, config }: MountOptions,
): void => {
  const readQuery = queryParser(operation.query);
  const closing = new AbortController();
  app.addHook('preClose', (done) => {
    closing.abort();
    done();
  });
  const streams = concurrencyLimit();

  app.route({
    // Both here: left to itself, HEAD would find the operation whose address has a parameter in the last place.
    method: ['GET', 'HEAD'],
    url: operation.http?.url ?? '',
    exposeHeadRoute: false,
    handler: async (request, response) => {
      const contextOf = (principal: Principal): CallContext => {
        requireAdministrator(principal);
        if (wanted.length > 0) requirePermission(principal.caller, wanted, {});
        return {
          caller: principal.caller,
          requestId: request.id,
          traceparent: request.exchange.traceparent,
          timeoutMs: config.GATEWAY_CALL_TIMEOUT_MS,
        };
      };
      const admitted = await admit(request, response);
      request.exchange.callerId = admitted.caller.id;
      const first = contextOf(admitted);
      const query = parse(
        operation.query,
        readQuery((request.query as { search: string }).search),
        '/query',
        'text',
      ) as { readonly follow?: boolean };
      const { follow = false } = query;
      const until = performance.now() + config.GATEWAY_MAX_STREAM_SECONDS * 1_000;
      const isOver = () => closing.signal.aborted || response.raw.destroyed || performance.now() >= until;
      const pause = (ms: number) => sleep(ms, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);

      // Taken before anything is awaited: as many as ask at once cannot all find the last place free.
      const giveBack = streams.acquire(quotasOf(admitted.caller));
      // At once when the connection ends, and not only when what is on its way to it has come to its end.
      response.raw.once('close', giveBack);
      const answer = await callForResponse(bus, operation, { query }, first).catch((error: unknown) => {
        giveBack();
        throw error;
      });
      if ('refusal' in answer) {
        giveBack();
        return sendRefusal(response, answer.refusal);
      }

      /** The page after an id, as soon as there is somebody to answer. */
      const pageAfter = async (after: number): Promise<Page | undefined> => {
        for (const since = performance.now(); !isOver();) {
          const context = contextOf(await authenticate(request.headers.authorization));
          const answered: CallResponse = await callForResponse(bus, operation, { query: { ...query, after } }, context);
          if ('reply' in answered) return JSON.parse(answered.reply.json) as Page;
          const { kind, error } = answered.refusal;
          if (kind !== 'ServiceUnavailable' || performance.now() - since > maxOutageMs) throw new Error(error.message);
          await pause(pollIntervalMs);
        }
        return undefined;
      };

      const lines = async function* (): AsyncGenerator<string> {
        let page: Page | undefined = JSON.parse(answer.reply.json) as Page;
        let saidAt = performance.now();
        while (page !== undefined) {
          const { items, next, atEnd }: Page = page;
          if (items.length > 0) {
            yield items.map((item) => `${JSON.stringify(item)}\n`).join('');
            saidAt = performance.now();
          } else if (performance.now() - saidAt >= heartbeatIntervalMs) {
            yield '\n';
            saidAt = performance.now();
          }
          if (atEnd && !follow) return;
          if (atEnd) await pause(pollIntervalMs);
          page = isOver() ? undefined : await pageAfter(next);
        }
      };
      response
        .code(200)
        .headers(answer.reply.headers)
        .header('content-type', ndjsonContentType)
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no');
      if (request.method === 'HEAD') {
        giveBack();
        return response.send();
      }
      // Whoever follows learns at once that all is well, also when there is nothing to tell yet.
      response.raw.once('pipe', () => response.raw.flushHeaders());
      const stream = Readable.from(lines(), { objectMode: false, highWaterMark: 1 });
      // Closed it is in any case, also where the client was gone before a line was asked for.
      stream.once('close', giveBack);
      return response.send(stream);
    },
  });
};
