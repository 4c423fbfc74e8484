import type { CreatedUser } from '@bunting/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { accessApi } from '../../../test/access-api.ts';
import { aBrowser } from '../../../test/browser.ts';
import { type StartedGateway, startGateway } from '../../../test/started-gateway.ts';

let gateway: StartedGateway;
const { done } = accessApi(() => gateway);
const password = 'Correct-horse-7';
const addresses = 100;
const attempts = 10_000;
const concurrent = 50;

beforeAll(async () => void (gateway = await startGateway({ environment: { GATEWAY_TRUSTED_PROXIES: '127.0.0.1' } })));
afterAll(() => gateway.stop());

it('keeps the event loop free and others signing in during 10,000 wrong passwords from 100 addresses', async () => {
  for (const username of ['attacked 1', 'other'])
    await done<CreatedUser>('POST', 'user-admin', { username, rootRole: 3, password });
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const statuses = new Map<number, number>();
  let nth = 0;
  const attack = async () => {
    while (nth < attempts) {
      const from = aBrowser(() => gateway, `10.9.0.${nth++ % addresses}`);
      const { status } = await from.send('POST', '/auth/simple/login', {
        username: `attacked ${nth % 5}`,
        password: 'wrong',
      });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  delay.enable();
  const attacking = Promise.all(Array.from({ length: concurrent }, attack));
  let isOver = false;
  void attacking.then(() => (isOver = true));
  const waits: number[] = [];
  while (!isOver && waits.length < 100) {
    const before = performance.now();
    await aBrowser(() => gateway, `10.8.0.${waits.length}`).signIn('other', password);
    waits.push(performance.now() - before);
  }
  await attacking;
  delay.disable();
  const p99 = delay.percentile(99) / 1e6;
  const slowest = Math.max(...waits);
  console.log(
    `${attempts} wrong passwords: ${JSON.stringify(Object.fromEntries(statuses))}; event loop delay p99 ${p99.toFixed(0)} ms; ` +
      `${waits.length} sign-ins of another user, the slowest in ${slowest.toFixed(0)} ms`,
  );
  expect(statuses.get(200)).toBeUndefined();
  expect(waits.length).toBeGreaterThan(0);
  expect(p99).toBeLessThan(50);
}, 300_000);

it('refuses an unknown name in the time of a wrong password', async () => {
  const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? NaN;
  await done<CreatedUser>('POST', 'user-admin', { username: 'known', rootRole: 3, password });
  const times = { known: [] as number[], unknown: [] as number[] };
  for (let nth = 0; nth < 25; nth++) {
    for (const name of ['known', 'unknown'] as const) {
      const username = name === 'known' ? 'known' : `unknown ${nth}`;
      const from = aBrowser(() => gateway, `10.7.${nth}.${name.length}`);
      const before = performance.now();
      const { status } = await from.send('POST', '/auth/simple/login', { username, password: 'wrong' });
      expect(status).toBe(401);
      times[name].push(performance.now() - before);
    }
  }
  const [known, unknown] = [median(times.known), median(times.unknown)];
  console.log(`a wrong password ${known.toFixed(0)} ms, an unknown name ${unknown.toFixed(0)} ms (medians of 25)`);
  expect(Math.abs(known - unknown)).toBeLessThan(0.2 * known);
}, 120_000);
