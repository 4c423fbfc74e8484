import { afterAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rollingRestarts } from './rolling-restarts.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'bunting-rolling-restarts-spec-'));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));

it('a rolling restart of every service fails no request, of clients that keep their connections and of others', async () => {
  const { restarts, keepAlive, connectionPerRequest, failures } = await rollingRestarts({
    requests: 400,
    restarts: 1,
    folder,
    clients: 6,
  });
  expect(failures).toEqual([]);
  expect([restarts, keepAlive.failed, connectionPerRequest.failed]).toEqual([5, 0, 0]);
  expect(Math.min(keepAlive.sent, connectionPerRequest.sent)).toBeGreaterThan(100);
}, 400_000);
