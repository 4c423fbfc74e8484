import { type Answer, callForAnswer, type CallContext } from '@bunting/bus';
import { type AnyOperation, type Caller, parse, type Permission, refusal, unavailable } from '@bunting/contracts';
import type { FastifyInstance } from 'fastify';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { requireAdministrator, requirePermission } from './authenticate.ts';
import { refuse } from './http-errors.ts';
import type { MountOptions } from './mount.ts';
import type { Principal } from './persistence/token-repository.ts';
import { queryReader } from './request-query.ts';

/** How often to look for what is new, for who follows. */
const lookEveryMs = 250;
/** How often to show who follows, and what stands between, that the connection is alive. */
const heartbeatMs = 10_000;
/** How long a service may be away before who reads is told to come again. */
const patienceMs = 30_000;
const mostStreams = 200;
/** How many streams one key may have: no one takes the places of all others. */
const mostOfKey = 5;

export const linesType = 'application/x-ndjson; charset=utf-8';

/** Gives places to streams, and each place a way to give it back. */
const streamPlaces = () => {
  const ofKey = new Map<string, number>();
  let taken = 0;
  const put = (key: string, held: number): void => {
    if (held === 0) ofKey.delete(key);
    else ofKey.set(key, held);
  };
  return ({ id, tokenId }: Caller): (() => void) => {
    const key = tokenId ?? String(id);
    const held = ofKey.get(key) ?? 0;
    if (held >= mostOfKey) {
      const message = `A key may have ${mostOfKey} streams at once. Please end one of them first.`;
      throw refusal('RateLimitError', message, { retryAfterSeconds: 10 });
    }
    if (taken >= mostStreams) throw unavailable('There are too many streams now. Please try again.', 10);
    taken++;
    put(key, held + 1);
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      taken--;
      put(key, (ofKey.get(key) ?? 1) - 1);
    };
  };
};

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
export const mountStream = (
  app: FastifyInstance,
  operation: AnyOperation,
  wanted: readonly Permission[],
  { bus, admit, authenticate, config }: MountOptions,
): void => {
  const readQuery = queryReader(operation.query);
  const closing = new AbortController();
  app.addHook('preClose', (done) => {
    closing.abort();
    done();
  });
  const takePlace = streamPlaces();

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
          timeoutMs: config.GATEWAY_REQUEST_TIMEOUT_MS,
        };
      };
      const admitted = await admit(request, response);
      request.exchange.callerId = admitted.caller.id;
      const first = contextOf(admitted);
      const query = parse(
        operation.query,
        readQuery((request.query as { search: string }).search),
        '/query',
        'as-text',
      ) as { readonly follow?: boolean };
      const { follow = false } = query;
      const until = performance.now() + config.GATEWAY_STREAM_SECONDS * 1_000;
      const isOver = () => closing.signal.aborted || response.raw.destroyed || performance.now() >= until;
      const pause = (ms: number) => sleep(ms, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);

      // Taken before anything is awaited: as many as ask at once cannot all find the last place free.
      const giveBack = takePlace(admitted.caller);
      // At once when the connection ends, and not only when what is on its way to it has come to its end.
      response.raw.once('close', giveBack);
      const answer = await callForAnswer(bus, operation, { query }, first).catch((error: unknown) => {
        giveBack();
        throw error;
      });
      if ('refused' in answer) {
        giveBack();
        return refuse(response, answer.refused);
      }

      /** The page after an id, as soon as there is somebody to answer. */
      const pageAfter = async (after: number): Promise<Page | undefined> => {
        for (const since = performance.now(); !isOver();) {
          const context = contextOf(await authenticate(request.headers.authorization));
          const answered: Answer = await callForAnswer(bus, operation, { query: { ...query, after } }, context);
          if ('reply' in answered) return JSON.parse(answered.reply.json) as Page;
          const { kind, error } = answered.refused;
          if (kind !== 'ServiceUnavailable' || performance.now() - since > patienceMs) throw new Error(error.message);
          await pause(lookEveryMs);
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
          } else if (performance.now() - saidAt >= heartbeatMs) {
            yield '\n';
            saidAt = performance.now();
          }
          if (atEnd && !follow) return;
          if (atEnd) await pause(lookEveryMs);
          page = isOver() ? undefined : await pageAfter(next);
        }
      };
      response
        .code(200)
        .headers(answer.reply.headers)
        .header('content-type', linesType)
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
