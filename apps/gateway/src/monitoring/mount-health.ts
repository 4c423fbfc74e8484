import type { Readiness } from '@bunting/runtime';
import type { FastifyInstance } from 'fastify';

const good = { health: 'GOOD' } as const;

/** Routes of liveness and readiness, which need no token. @param ready rejects with the reason when the gateway is not ready */
export const mountHealth = (app: FastifyInstance, ready: () => Promise<Readiness>): void => {
  app.get('/health', async () => good);
  app.get('/health/live', async () => good);
  app.get('/health/ready', async (_request, reply) => {
    try {
      const { unavailable } = await ready();
      return unavailable === undefined ? good : { ...good, unavailable };
    } catch (error) {
      return reply
        .code(503)
        .header('retry-after', '1')
        .send({ health: 'BAD', reason: (error as Error).message });
    }
  });
};
