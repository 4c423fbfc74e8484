import { temporaryFolder } from '@bunting/testing';
import { afterAll, expect, it } from 'vitest';
import { runRollingRestarts } from './rolling-restarts.ts';

const folder = temporaryFolder(`bunting-rolling-restarts-spec-${process.pid}`);
afterAll(() => folder.remove());

/** One that writes, one that calls it, and the gateway; `npm run torture:rolling` restarts every service. */
const services = ['features', 'gateway', 'change-requests'] as const;

it('no request fails and no stream breaks during a rolling restart of services, with and without keep-alive', async () => {
  const { restarts, keepAlive, connectionPerRequest, streams, failures, writes, lost } = await runRollingRestarts({
    requests: 150,
    restarts: 1,
    folder: folder.path,
    clients: 4,
    // Each process that stops is in use by several requests meanwhile.
    pauseMs: 200,
    services,
  });
  expect([failures, lost]).toEqual([[], []]);
  expect(writes).toBeGreaterThan(20);
  expect([restarts, keepAlive.failed, connectionPerRequest.failed]).toEqual([services.length, 0, 0]);
  // Those of the gateway that was restarted were opened again.
  expect(streams.sent).toBeGreaterThan(4);
  expect(Math.min(keepAlive.sent, connectionPerRequest.sent)).toBeGreaterThan(50);
}, 400_000);
