import type { FastifyInstance } from 'fastify';

const good = { health: 'GOOD' } as const;

/** What whoever operates Bunting asks, without a key: is it alive, and can it work. */
export const mountHealth = (app: FastifyInstance, ready: () => Promise<void>): void => {
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
};
