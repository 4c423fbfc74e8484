import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';

const good = { health: 'GOOD' } as const;

/** What whoever operates Bunting asks, without a key: is it alive, can it work, what does it measure. */
export const mountHealth = (app: FastifyInstance, metrics: Registry, ready: () => Promise<void>): void => {
  app.get('/health', async () => good);
  app.get('/health/live', async () => good);
  app.get('/health/ready', async (_request, reply) => {
    try {
      await ready();
      return good;
    } catch (error) {
      return reply
        .code(503)
        .header('retry-after', '1')
        .send({ health: 'BAD', reason: (error as Error).message });
    }
  });
  app.get('/internal-backstage/prometheus', async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await metrics.metrics()),
  );
};
