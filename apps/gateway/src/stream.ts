import { type Answer, callForAnswer, type CallContext } from '@bunting/bus';
import { type AnyOperation, parse, type Permission, unavailable } from '@bunting/contracts';
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

export const linesType = 'application/x-ndjson; charset=utf-8';

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
  let open = 0;

  app.route({
    method: 'GET',
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

      if (open >= mostStreams) throw unavailable('There are too many streams now. Please try again.', 10);
      const answer = await callForAnswer(bus, operation, { query }, first);
      if ('refused' in answer) return refuse(response, answer.refused);

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
        open++;
        try {
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
        } finally {
          open--;
        }
      };
      response
        .code(200)
        .headers(answer.reply.headers)
        .header('content-type', linesType)
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no');
      // Whoever follows learns at once that all is well, also when there is nothing to tell yet.
      response.raw.once('pipe', () => response.raw.flushHeaders());
      return response.send(Readable.from(lines(), { objectMode: false, highWaterMark: 1 }));
    },
  });
};
