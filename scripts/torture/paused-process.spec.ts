import { eventually } from '@bunting/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { apiOf } from '../../apps/all-in-one/test/support/clients.ts';
import { seededRandom } from './seeded-random.ts';
import type { ServiceProcess } from './service-process.ts';
import { startCluster, type Cluster } from './cluster.ts';

/** Two processes of one service handle the writes; one is paused (SIGSTOP) until after their deadlines. */
describe('a write that was rejected while a process of its service was paused', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bunting-frozen-spec-'));
  let cluster: Cluster;
  let stopped: ServiceProcess;
  let flag: string;
  const api = <T = unknown>(method: string, address: string, body?: unknown) =>
    apiOf(cluster.urls[0] as string, cluster.token)<T>(method, address, body);
  const features = '/api/admin/projects/default/features';

  beforeAll(async () => {
    const scale = { features: 2, gateway: 1 };
    const settings = { GATEWAY_CALL_TIMEOUT_MS: '5000' };
    cluster = await startCluster({ folder, scale, random: seededRandom(1), settings });
    stopped = cluster.processesOf('features')[0] as ServiceProcess;
  });
  afterAll(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
  beforeEach(async () => {
    await eventually(async () => {
      flag = `frozen-${randomUUID()}`;
      expect((await api('POST', features, { name: flag })).status).toBe(201);
    });
  });

  /** Resumes the process, and waits until it has read everything that was sent to it during the pause. */
  const thaw = async (): Promise<void> => {
    stopped.resume();
    // NATS preserves the order of a connection. At least one of so many reads reaches this process, after all that was queued.
    for (let reads = 0; reads < 40; reads++) await api('GET', `${features}/${flag}`);
  };

  it('does not overwrite newer writes when the process resumes', async () => {
    const describeIt = (text: string) =>
      api('PATCH', `${features}/${flag}`, [{ op: 'replace', path: '/description', value: text }]);
    let acknowledged = '';
    let refused = 0;
    stopped.pause();
    for (let nth = 1; nth <= 30 && (refused < 2 || acknowledged === ''); nth++) {
      const { status } = await describeIt(`v${nth}`);
      if (status === 200) acknowledged = `v${nth}`;
      else refused++;
    }
    for (let nth = 1; nth <= 30; nth++) {
      const { status } = await describeIt(`last ${nth}`);
      if (status !== 200) continue;
      acknowledged = `last ${nth}`;
      break;
    }
    await thaw();
    expect(refused).toBeGreaterThanOrEqual(2);
    await eventually(async () => {
      const { body } = await api('GET', `${features}/${flag}`);
      expect(body).toMatchObject({ description: acknowledged });
    });
  });

  it('happens once when it is sent again after a read has shown it missing', async () => {
    const strategies = `${features}/${flag}/environments/development/strategies`;
    /** Reads until the running process responds. */
    const titles = async (): Promise<unknown[]> => {
      for (let tries = 0; tries < 60; tries++) {
        const { status, body } = await api<{ title?: string }[]>('GET', strategies);
        if (status === 200) return body.map(({ title }) => title);
      }
      throw new Error('No read was answered.');
    };
    stopped.pause();
    let refused = 0;
    const expected: string[] = [];
    for (let nth = 1; nth <= 10 && refused < 2; nth++) {
      const title = `s${nth}`;
      expected.push(title);
      for (let tries = 0; tries < 30 && !(await titles()).includes(title); tries++) {
        const { status } = await api('POST', strategies, { name: 'default', title });
        if (status !== 200) refused++;
      }
    }
    await thaw();
    expect(refused).toBeGreaterThanOrEqual(2);
    expect(await titles()).toEqual(expected);
  });
});
