import type { FastifyInstance, preHandlerAsyncHookHandler } from 'fastify';
import type { Registry } from 'prom-client';

/** Milliseconds for which one rendering of the metrics is served. */
const cacheTtlMs = 1_000;

/** Serves the metrics without a token, rendered at most once a second. */
export const mountMetrics = (app: FastifyInstance, metrics: Registry, limit: preHandlerAsyncHookHandler): void => {
  let rendered: Promise<Buffer> | undefined;
  let renderedAt = 0;

  const render = (): Promise<Buffer> => {
    if (rendered !== undefined && performance.now() - renderedAt < cacheTtlMs) return rendered;
    renderedAt = performance.now();
    return (rendered = metrics.metrics().then((text) => Buffer.from(text)));
  };

  app.get('/internal-backstage/prometheus', { preHandler: limit }, async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await render()),
  );
};
