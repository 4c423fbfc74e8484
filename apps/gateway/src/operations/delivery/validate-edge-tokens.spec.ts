import type { ValidEdgeTokens } from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusalOf } from '../../../test/refusal-of.ts';
import { adminToken, type StartedGateway, startGateway } from '../../../test/started-gateway.ts';

const secret = (scope: string, nth: number): string => `${scope}.${String(nth).padStart(48, '0')}`;
const client = secret('*:development', 1);
const shops = secret('[]:production', 2);
const frontend = secret('shop:development', 3);
const expired = secret('*:development', 4);
const revoked = secret('*:development', 5);
const user = 'user:0123456789abcdef0123456789abcdef';

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    environment: { GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '12', GATEWAY_TRUSTED_PROXIES: '127.0.0.0/8' },
  });
  const development = { environment: 'development' };
  await gateway.givenToken({ ...development, token: client, kind: 'client' });
  await gateway.givenToken({
    token: shops,
    kind: 'client',
    environment: 'production',
    projects: ['shop', 'bank'],
  });
  await gateway.givenToken({ ...development, token: frontend, kind: 'frontend', projects: ['shop'] });
  await gateway.givenToken({ ...development, token: expired, kind: 'client', expiresAt: new Date(Date.now() - 1_000) });
  await gateway.givenToken({ ...development, token: revoked, kind: 'client', revokedAt: new Date() });
  await gateway.givenToken({ token: user, role: 'admin' });
});
afterAll(() => gateway.stop());

const validate = (body: unknown, address: string, headers: Record<string, string> = {}) =>
  gateway.send('/edge/validate', {
    method: 'POST',
    key: null,
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const validOf = async (response: Response) => ((await response.json()) as ValidEdgeTokens).tokens;

describe('the check of tokens for an Edge', () => {
  it('returns without a key the kind, projects and environment of valid SDK tokens, and of no others', async () => {
    const tokens = [client, 'nonsense', shops, adminToken, frontend, expired, revoked, user, client, ''];
    const response = await validate({ tokens }, '198.51.100.1');
    expect(response.status).toBe(200);
    expect(await validOf(response)).toEqual([
      { token: client, type: 'client', projects: ['*'], environment: 'development' },
      { token: shops, type: 'client', projects: ['shop', 'bank'], environment: 'production' },
      { token: frontend, type: 'frontend', projects: ['shop'], environment: 'development' },
    ]);
  });

  it('checks each request for itself, whatever key and idempotency key it carries', async () => {
    const headers = { 'idempotency-key': 'one', authorization: 'nonsense' };
    expect(await validOf(await validate({ tokens: [client] }, '198.51.100.2', headers))).toHaveLength(1);
    expect(await validOf(await validate({ tokens: [revoked] }, '198.51.100.2', headers))).toEqual([]);
  });

  it('names the fault of a body with too many tokens, an overlong one, or one that is no text', async () => {
    for (const tokens of [Array.from({ length: 101 }, () => client), ['x'.repeat(513)], [7], client]) {
      const response = await validate({ tokens }, '198.51.100.3');
      expect(response.status).toBe(400);
      expect((await refusalOf(response)).message).toContain('tokens');
    }
    expect((await validate(`{"tokens":["${'x'.repeat(256 * 1024)}"]}`, '198.51.100.4')).status).toBe(413);
  });

  it('is limited per address by the size of bodies, and leaves valid keys and other addresses their budgets', async () => {
    const tokens = Array.from({ length: 100 }, (_, nth) => secret('*:development', nth).padEnd(400, '0'));
    const statuses: number[] = [];
    for (let nth = 0; nth < 5; nth++) statuses.push((await validate({ tokens }, '198.51.100.5')).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    const refused = await validate({ tokens }, '198.51.100.5');
    expect(await refusalOf(refused)).toMatchObject({ name: 'RateLimitError' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const headers = { 'x-forwarded-for': '198.51.100.5' };
    expect((await gateway.send('/api/admin/user-admin', { headers })).status).toBe(200);
    expect((await gateway.send('/api/admin/user-admin', { headers, key: 'user:unknown' })).status).toBe(401);
    expect((await validate({ tokens }, '198.51.100.6')).status).toBe(200);
  });
});
