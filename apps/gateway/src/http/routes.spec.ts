import { httpOperations } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import fastify, { type FastifyInstance } from 'fastify';
import { reservedPrefixes } from './console.ts';
import { isPathBelow } from './request/head.ts';

const routes = httpOperations.flatMap(({ http }) =>
  http === undefined ? [] : [{ method: http.method, url: http.url }],
);

const routerOf = (inOrder: typeof routes): FastifyInstance => {
  const app = fastify();
  for (const { method, url } of inOrder) app.route({ method, url, handler: () => url });
  return app;
};

describe('the route of an operation', () => {
  it('is below a prefix whose unknown paths are no pages of the console', () => {
    const isReserved = (url: string): boolean => reservedPrefixes.some((prefix) => isPathBelow(prefix, url));
    expect(routes.filter(({ url }) => !isReserved(url))).toEqual([]);
  });

  it.each([
    ['first', routes],
    ['last', routes.toReversed()],
  ])('is not shadowed by a parameter of another route when it is registered %s', async (_when, inOrder) => {
    const app = routerOf(inOrder);
    const taken: string[] = [];
    for (const { method, url } of routes) {
      const { body } = await app.inject({ method, url: url.replaceAll(/:\w+/g, '7') });
      if (body !== url) taken.push(`${method} ${url} is answered by ${body}`);
    }
    expect(taken).toEqual([]);
  });
});
