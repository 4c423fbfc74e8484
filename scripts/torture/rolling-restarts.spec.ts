import { afterAll, expect, it } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runRollingRestarts, servicesInUpgradeOrder } from './rolling-restarts.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'bunting-rolling-restarts-spec-'));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));

it('no request fails during a rolling restart of every service, with and without keep-alive', async () => {
  const { restarts, keepAlive, connectionPerRequest, failures, writes, lost } = await runRollingRestarts({
    requests: 400,
    restarts: 1,
    folder,
    clients: 6,
  });
  expect([failures, lost]).toEqual([[], []]);
  expect(writes).toBeGreaterThan(50);
  expect([restarts, keepAlive.failed, connectionPerRequest.failed]).toEqual([servicesInUpgradeOrder.length, 0, 0]);
  expect(Math.min(keepAlive.sent, connectionPerRequest.sent)).toBeGreaterThan(100);
}, 400_000);
