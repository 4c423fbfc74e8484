import type { Readiness } from '@bunting/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify';
import type { Registry } from 'prom-client';

const good = { health: 'GOOD' } as const;

/** Routes of liveness and readiness, which need no token; `/ready` is what Unleash 8 calls the latter. @param ready rejects with the reason when the gateway is not ready */
export function mountHealth(app: FastifyInstance, ready: () => Promise<Readiness>): void {
  app.get('/health', async () => good);
  app.get('/health/live', async () => good);
  const readiness = async (_request: FastifyRequest, reply: FastifyReply) => {
    try {
      const { unavailable } = await ready();
      return unavailable === undefined ? good : { ...good, unavailable };
    } catch (error) {
      return reply
        .code(503)
        .header('retry-after', '1')
        .send({ health: 'BAD', reason: (error as Error).message });
    }
  };
  for (const path of ['/health/ready', '/ready']) app.get(path, readiness);
}

/** Milliseconds for which one rendering of the metrics is served. */
const cacheTtlMs = 1_000;

/** Serves the metrics without a token, rendered at most once a second. */
export function mountMetrics(app: FastifyInstance, metrics: Registry, limit: preHandlerAsyncHookHandler): void {
  let renderedMetrics: Promise<Buffer> | undefined;
  let renderedAt = 0;

  const render = (): Promise<Buffer> => {
    if (renderedMetrics !== undefined && performance.now() - renderedAt < cacheTtlMs) return renderedMetrics;
    renderedAt = performance.now();
    return (renderedMetrics = metrics.metrics().then((text) => Buffer.from(text)));
  };

  app.get('/internal-backstage/prometheus', { preHandler: limit }, async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await render()),
  );
}
