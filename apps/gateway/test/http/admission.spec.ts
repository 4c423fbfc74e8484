import { eventually } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rateLimiter } from '@bunting/http';
import { deliveryOutbox, featureRow, givenRows } from '@bunting/delivery/test';
import { refusalOf, servicesBehind } from '../access-api.ts';
import { type StartedGateway, startGateway } from '../started-gateway.ts';
import { loginLimits } from '../../src/access/sign-in/sign-in-log.ts';

const featurePath = '/api/admin/projects/default/features/one';

describe('the rate limiter', () => {
  it('grants each key a budget per minute that refills evenly', () => {
    let now = 0;
    const limiter = rateLimiter(60, () => now);
    for (let left = 59; left >= 0; left--) {
      expect(limiter.consume('ann')).toEqual({ limit: 60, remaining: left, resetSeconds: 60 - left, waitSeconds: 0 });
    }
    expect(limiter.consume('ann')).toEqual({ limit: 60, remaining: 0, resetSeconds: 60, waitSeconds: 1 });
    expect(limiter.consume('bob')).toMatchObject({ remaining: 59, waitSeconds: 0 });
    now += 999;
    expect(limiter.consume('ann').waitSeconds).toBe(1);
    now += 1;
    expect(limiter.consume('ann')).toMatchObject({ remaining: 0, waitSeconds: 0 });
    now += 3_600_000;
    expect(limiter.consume('ann')).toEqual({ limit: 60, remaining: 59, resetSeconds: 1, waitSeconds: 0 });
  });

  it('has no limit for a budget of 0', () => {
    const limiter = rateLimiter(0);
    for (let nth = 0; nth < 100; nth++)
      expect(limiter.consume('ann')).toMatchObject({ resetSeconds: 0, waitSeconds: 0 });
  });

  it('gives a key that has used up its budget none back for the requests of 30,000 other keys', () => {
    const limiter = rateLimiter(10, () => 0);
    const accepted = () =>
      Array.from({ length: 30 }, () => limiter.consume('mallory')).filter((one) => !one.waitSeconds);
    expect(accepted()).toHaveLength(10);
    for (let nth = 0; nth < 30_000; nth++) limiter.consume(`visitor ${nth}`);
    expect(accepted()).toHaveLength(0);
  });

  it('evicts the fullest of the least recently used buckets beyond 10,000 keys', () => {
    const limiter = rateLimiter(2, () => 0);
    limiter.consume('first', 2);
    limiter.consume('second');
    for (let nth = 0; nth < 9_999; nth++) limiter.consume(`other ${nth}`);
    expect(limiter.consume('first').waitSeconds).toBe(30);
    expect(limiter.consume('second').remaining).toBe(1);
  });

  it('lets attempts under invented names not bring back the budget of a user', () => {
    const limits = loginLimits({ GATEWAY_MAX_FAILED_LOGINS_PER_MINUTE: 1 });
    const mia = { key: 'user 3', exists: true };
    for (let nth = 0; nth < 3; nth++) limits.countAttemptFor(mia);
    for (let nth = 0; nth < 20_000; nth++) {
      const attempts = nth < 32 ? 3 : 1;
      for (let more = 0; more < attempts; more++) limits.countAttemptFor({ key: `user ${nth}`, exists: false });
    }
    expect(() => limits.countAttemptFor(mia)).toThrow('too many attempts to sign in as this user');
  });
});

describe('rate limits of tokens', () => {
  let gateway: StartedGateway;
  const other = '*:*.11111111111111111111111111111111';
  const ofPage = '*:development.key-of-a-page-with-visitors';
  const environments = deliveryOutbox();
  environments.write(...givenRows('default'), featureRow('large', { description: 'x'.repeat(3_000) }));
  const ofServer = '*:development.key-of-a-server-that-polls-one-feature';
  beforeAll(async () => {
    gateway = await startGateway({
      environment: {
        GATEWAY_MAX_REQUESTS_PER_MINUTE: '3',
        GATEWAY_MAX_FRONTEND_REQUESTS_PER_MINUTE: '5',
        GATEWAY_TRUSTED_PROXIES: '127.0.0.0/8',
      },
    });
    await gateway.behind([...servicesBehind().endpoints, environments.endpoint]);
    await gateway.givenToken({ token: other, kind: 'admin' });
    await gateway.givenToken({ token: ofPage, kind: 'frontend', environment: 'development' });
    await gateway.givenToken({ token: ofServer, kind: 'client', environment: 'development' });
  });
  afterAll(() => gateway.stop());

  it('reports the remaining budget of a token, responds 429 beyond it, and counts each token apart', async () => {
    for (const left of [2, 1, 0]) {
      const { status, headers } = await gateway.send(featurePath);
      expect(status).toBe(200);
      expect(headers.get('ratelimit-policy')).toBe('"requests";q=3;w=60');
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"requests";r=${left};t=\\d+$`));
      expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual(['3', String(left)]);
      expect(Number(headers.get('ratelimit-reset'))).toBeLessThanOrEqual(60);
    }
    for (const path of [featurePath, '/api/admin/nosuch']) {
      const response = await gateway.send(path);
      expect(response.status).toBe(429);
      expect(response.headers.get('ratelimit-remaining')).toBe('0');
      const wait = Number(response.headers.get('retry-after'));
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(20);
      expect(await refusalOf(response)).toMatchObject({
        name: 'RateLimitError',
        message: 'The budget of 3 requests a minute of this key is used up.',
      });
    }
    expect((await gateway.send(featurePath, { key: other })).status).toBe(200);
    expect((await gateway.send('/health')).status).toBe(200);
  });

  it('counts the poll of a large feature once, whether it is compressed or not', async () => {
    const poll = async () => {
      const headers = { 'accept-encoding': 'gzip' };
      const { status, headers: received } = await gateway.send('/api/client/features/large', {
        key: ofServer,
        headers,
      });
      return [status, received.get('ratelimit-remaining')];
    };
    expect([await poll(), await poll(), await poll()]).toEqual([
      [200, '2'],
      [200, '1'],
      [200, '0'],
    ]);
  });

  it('counts frontend tokens by address alone, so that no visitor of a page locks out the others', async () => {
    const visit = async (address: string) =>
      (await gateway.send('/api/frontend', { key: ofPage, headers: { 'x-forwarded-for': address } })).status;
    const statuses: number[] = [];
    for (let nth = 0; nth < 6; nth++) statuses.push(await visit('198.51.100.20'));
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await visit('198.51.100.21')).toBe(200);
  });
});

describe('rate limits of frontend tokens', () => {
  const environments = deliveryOutbox();
  environments.write(...givenRows('default'));
  let gateway: StartedGateway;
  const [one, other] = ['*:development.key-of-one-page', '*:development.key-of-another-page'];
  const started = async (maxPerMinute: string): Promise<StartedGateway> => {
    const it = await startGateway({
      environment: { GATEWAY_MAX_FRONTEND_REQUESTS_PER_MINUTE: maxPerMinute, GATEWAY_TRUSTED_PROXIES: '127.0.0.0/8' },
    });
    await it.behind([...servicesBehind().endpoints, environments.endpoint]);
    for (const token of [one, other]) await it.givenToken({ token, kind: 'frontend', environment: 'development' });
    return it;
  };
  beforeAll(async () => {
    gateway = await started('8');
  });
  afterAll(() => gateway.stop());

  const evaluate = (key: string, address: string, { body = '{}', at = gateway } = {}) =>
    at.send('/api/frontend', {
      method: 'POST',
      key,
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body,
    });

  it('counts all frontend tokens of one address together, and apart from other tokens', async () => {
    // The budget grows by one request in half a minute.
    const at = await started('2');
    const statuses: number[] = [];
    for (const key of [one, other, one]) statuses.push((await evaluate(key, '198.51.100.1', { at })).status);
    expect(statuses).toEqual([200, 200, 429]);
    // Some proxies append the port of each connection.
    expect((await evaluate(one, '198.51.100.1:50123', { at })).status).toBe(429);
    const refused = await evaluate(one, '198.51.100.1', { at });
    expect(refused.headers.get('ratelimit-limit')).toBe('2');
    expect((await refusalOf(refused)).message).toContain('with frontend keys from your address');
    expect((await evaluate(one, '198.51.100.2', { at })).status).toBe(200);
    const headers = { 'x-forwarded-for': '198.51.100.1' };
    expect((await at.send(featurePath, { headers })).status).toBe(200);
    await at.stop();
  });

  it('charges requests with frontend tokens by the size of their body', async () => {
    const context = JSON.stringify({ context: { properties: { text: 'x'.repeat(5 * 16 * 1024) } } });
    const { status, headers } = await evaluate(one, '198.51.100.3', { body: context });
    expect([status, headers.get('ratelimit-remaining')]).toEqual([200, '2']);
    expect((await evaluate(one, '198.51.100.3', { body: context })).status).toBe(429);
  });

  it('counts clients of an untrusted proxy together and logs which setting to change', async () => {
    const behind = await startGateway({ environment: { GATEWAY_MAX_FRONTEND_REQUESTS_PER_MINUTE: '1' } });
    await behind.givenToken({ token: one, kind: 'frontend', environment: 'development' });
    await behind.behind([...servicesBehind().endpoints, environments.endpoint]);
    const send = (address: string) =>
      behind.send('/api/frontend', { key: one, headers: { 'x-forwarded-for': address } }).then(({ status }) => status);
    expect([await send('192.0.2.1'), await send('192.0.2.2'), await send('192.0.2.3')]).toEqual([200, 429, 429]);
    const warnings = behind.lines.filter(({ msg }) => String(msg).includes('GATEWAY_TRUSTED_PROXIES'));
    expect(warnings).toHaveLength(1);
    await behind.stop();
  });
});

describe('tokens without a rate limit', () => {
  it('sends no rate limit headers when no limit is configured', async () => {
    const gateway = await startGateway();
    await gateway.behind(servicesBehind().endpoints);
    const { status, headers } = await gateway.send(featurePath);
    expect([status, headers.get('ratelimit'), headers.get('ratelimit-limit')]).toEqual([200, null, null]);
    await gateway.stop();
  });
});

describe('rate limits of invalid tokens', () => {
  let gateway: StartedGateway;
  const seldom = '*:*.22222222222222222222222222222222';
  beforeAll(async () => {
    gateway = await startGateway({
      environment: {
        GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '3',
        GATEWAY_TRUSTED_PROXIES: '127.0.0.0/8',
        GATEWAY_STATEMENT_TIMEOUT_MS: '60000',
      },
    });
    await gateway.behind(servicesBehind().endpoints);
    await gateway.givenToken({ token: seldom, kind: 'admin' });
  });
  afterAll(() => gateway.stop());

  const from = (address: string, key?: string | null) =>
    gateway.send(featurePath, { ...(key === undefined ? {} : { key }), headers: { 'x-forwarded-for': address } });
  const statusesOf = async (keys: readonly (string | null)[], address: string) => {
    const statuses: number[] = [];
    for (const key of keys) statuses.push((await from(address, key)).status);
    return statuses;
  };

  it('responds 429 for invalid tokens of an address beyond its limit, and still accepts every valid token', async () => {
    const address = '198.51.100.7';
    expect(await statusesOf(['guess 1', null, 'guess 2', 'guess 3', null], address)).toEqual([401, 401, 401, 429, 429]);
    const refused = await from(address, 'guess 4');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refusalOf(refused)).toMatchObject({
      name: 'RateLimitError',
      message: 'There were too many requests without a valid key from your address.',
    });
    expect((await from(address, seldom)).status).toBe(200);
    expect((await from(address)).status).toBe(200);
    expect((await from('198.51.100.8', 'guess 5')).status).toBe(401);
  });

  it('uses at most two database connections while tokens are guessed', async () => {
    const waiting = {
      text: `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name = 'bunting-gateway' and wait_event_type = 'Lock'
        and query like '%select nth::int, token.id,%'`,
    };
    const count = async () => (await gateway.database.read<{ count: number }>(waiting))[0]?.count;
    const guesses = await gateway.database.transaction(async ({ query }) => {
      await query('lock table api_token in access exclusive mode');
      const sent = Array.from({ length: 300 }, (_, nth) => from('198.51.100.9', `guess at the same time ${nth}`));
      await eventually(async () => expect(await count()).toBe(2));
      // A key of another address waits for no further connection either.
      sent.push(from('198.51.100.10', 'one more guess'));
      expect((await gateway.send('/health')).status).toBe(200);
      expect(await count()).toBe(2);
      return { sent };
    });
    const statuses = (await Promise.all(guesses.sent)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
  });

  it('counts the addresses of one IPv6 /64 network together', async () => {
    expect(await statusesOf(['guess 5', 'guess 6'], '2001:db8:0:1::7')).toEqual([401, 401]);
    expect(await statusesOf(['guess 7', 'guess 8'], '2001:db8::1:ffff:0:0:9')).toEqual([401, 429]);
    expect(await statusesOf(['guess 9'], '2001:db8:0:2::7')).toEqual([401]);
  });
});

describe('the X-Forwarded-For header', () => {
  it('trusts X-Forwarded-For of configured proxies only', async () => {
    const gateway = await startGateway({ environment: { GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '2' } });
    const statuses: number[] = [];
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
      const response = await gateway.send(featurePath, { key: 'guess', headers: { 'x-forwarded-for': address } });
      statuses.push(response.status);
    }
    expect(statuses).toEqual([401, 401, 429]);
    await gateway.stop();
  });

  it.each(['300.1.2.3', '10.0.0.0/33', 'fe80::1/129', '10.0.0.0/8/8', '10.0.0.0/'])(
    'is not guessed from a setting that is none: %s',
    async (list) => {
      await expect(startGateway({ environment: { GATEWAY_TRUSTED_PROXIES: `127.0.0.1, ${list}` } })).rejects.toThrow(
        `GATEWAY_TRUSTED_PROXIES names ${list}, which is neither an address nor a network like 10.0.0.0/8.`,
      );
    },
  );
});
