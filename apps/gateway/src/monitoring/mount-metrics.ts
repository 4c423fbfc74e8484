import type { FastifyInstance, preHandlerAsyncHookHandler } from 'fastify';
import type { Registry } from 'prom-client';

/** Milliseconds for which one rendering of the metrics is served. */
const cacheTtlMs = 1_000;

/** Serves the metrics without a token, rendered at most once a second. */
export const mountMetrics = (app: FastifyInstance, metrics: Registry, limit: preHandlerAsyncHookHandler): void => {
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
};
