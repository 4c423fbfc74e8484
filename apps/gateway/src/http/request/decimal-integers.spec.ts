import type { ErrorBody } from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Type } from 'typebox';
import { type StartedGateway, startGateway } from '../../../test/started-gateway.ts';
import { queryAndHeadersParser } from './request.ts';

const notDecimal = ['0x10', '1e3', '%201', '1%20', '1.0', '+1', '0b1', '1_0'];

describe('an integer in a URL', () => {
  let gateway: StartedGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  it.each(notDecimal)('is refused in a path as %s', async (id) => {
    const response = await gateway.send(`/api/admin/segments/${id}`);
    expect(response.status).toBe(400);
    expect(((await response.json()) as ErrorBody).message).toContain('`/params/id` property must be integer');
  });

  it.each(notDecimal)('is refused in a query as %s', (limit) => {
    const parse = queryAndHeadersParser(Type.Object({ limit: Type.Integer() }), { method: 'GET', url: '/' });
    const request = { headers: {}, query: { search: `limit=${limit.replace('+', '%2B')}` }, ip: '::1' };
    expect(() => parse(request)).toThrow('`/query/limit` property must be integer');
  });

  it.each([
    ['7', 7],
    ['-42', -42],
    ['007', 7],
  ])('is accepted as %s', (limit, expected) => {
    const parse = queryAndHeadersParser(Type.Object({ limit: Type.Integer() }), { method: 'GET', url: '/' });
    expect(parse({ headers: {}, query: { search: `limit=${limit}` }, ip: '::1' })).toEqual({ limit: expected });
  });
});
