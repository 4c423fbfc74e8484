import fastify, { type FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { concurrentRequestLimits } from './concurrent-requests.ts';

it('holds nothing of a request once its response is closed', async () => {
  const limits = concurrentRequestLimits({
    GATEWAY_MAX_CONCURRENT_REQUESTS: 1,
    GATEWAY_MAX_CONCURRENT_REQUESTS_PER_CLIENT: 1,
    GATEWAY_MAX_INCOMING_REQUESTS: 1,
    GATEWAY_MAX_INCOMING_REQUESTS_PER_CLIENT: 1,
    GATEWAY_MAX_INCOMING_REQUESTS_PER_ADDRESS: 1,
  });
  const client = { id: 'user 7', address: '192.0.2.1' };
  const handled: { request: FastifyRequest; closed: Promise<unknown> }[] = [];
  const app = fastify();
  app.addHook('onRequest', async (request, reply) => {
    limits.start(request, reply);
    handled.push({ request, closed: once(reply.raw, 'close') });
  });
  app.get('/', (request) => {
    limits.assignClient(request, client);
    return limits.clientOf(request);
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  try {
    // The second one is refused unless the first has released its permits.
    for (const nth of [0, 1]) {
      expect(await (await fetch(url)).json()).toEqual(client);
      await handled[nth]?.closed;
      expect(limits.clientOf(handled[nth]?.request as FastifyRequest)).toBeUndefined();
    }
  } finally {
    await app.close();
  }
});
