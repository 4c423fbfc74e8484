import { host, openLog } from '@bunting/runtime';
import { eventually } from '@bunting/testing';
import { expect } from 'vitest';
import { edgeService } from '../src/service.ts';

/** Starts an edge on a free port, and waits until it is ready. @param stops gets what stops it, unless it was stopped before */
export async function startEdge(stops: (() => unknown)[], settings: Readonly<Record<string, string>>) {
  const running = await host([edgeService], {
    environment: { INTERFACE: '127.0.0.1', PORT: '0', ...settings },
    log: openLog('silent'),
  });
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await running.stop();
  };
  stops.push(stop);
  const url = running.services.get('edge')?.address ?? '';
  await eventually(async () => expect((await fetch(`${url}/health/ready`)).status).toBe(200));
  return { url, stop };
}
