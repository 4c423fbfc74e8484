import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { apiOf } from '../../apps/all-in-one/test/support/clients.ts';
import { seededRandom } from './seeded-random.ts';
import type { ServiceProcess } from './service-process.ts';
import { startCluster, type Cluster } from './cluster.ts';

/** The backup of the change requests is older than that of the features, as when databases are dumped one after the other. */
describe('after the change requests were restored to an older copy', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bunting-restored-spec-'));
  const project = '/api/admin/projects/default';
  const place = `${project}/environments/development`;
  let cluster: Cluster;
  let service: ServiceProcess;
  const api = <T = unknown>(method: string, address: string, body?: unknown) =>
    apiOf(cluster.urls[0] as string, cluster.token)<T>(method, address, body);

  beforeAll(async () => {
    const scale = { features: 1, 'change-requests': 1, gateway: 1 };
    const settings = { CHANGE_REQUESTS_VOLUNTARY: 'true' };
    cluster = await startCluster({ folder, scale, random: seededRandom(1), settings });
    service = cluster.processesOf('change-requests')[0] as ServiceProcess;
  });
  afterAll(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });

  /** Runs a job on the server while the service, and with it every connection to its database, is stopped. */
  const whileStopped = async (job: (query: (text: string) => Promise<unknown>) => Promise<void>): Promise<void> => {
    await service.kill();
    const client = new pg.Client({ connectionString: cluster.postgres.urlOf('postgres') });
    await client.connect();
    const backends = "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'bunting_change_requests'";
    await client.query(backends);
    await job((text) => client.query(text));
    await client.end();
    await service.start();
  };

  const createFlag = async (name: string): Promise<void> =>
    expect((await api('POST', `${project}/features`, { name })).status).toBe(201);
  /** Proposes, approves and applies one more strategy. @returns the id of the change request */
  const applyStrategy = async (feature: string, title: string): Promise<number> => {
    const change = {
      feature,
      action: 'addStrategy',
      payload: { name: 'default', title, constraints: [], parameters: {} },
    };
    const { body, text } = await api<{ id: number }>('POST', `${place}/change-requests`, change);
    const states = `${project}/change-requests/${body.id}/state`;
    expect(text).toContain('"id"');
    for (const state of ['In review', 'Approved', 'Applied']) {
      const response = await api('PUT', states, { state });
      expect([state, response.status, response.text]).toEqual([state, 200, expect.any(String)]);
    }
    return body.id;
  };
  const titlesOf = async (feature: string) => {
    const address = `${project}/features/${feature}/environments/development/strategies`;
    return (await api<{ title: string }[]>('GET', address)).body.map(({ title }) => title);
  };

  it('applies a request that gets the id of a lost request, although that one was applied', async () => {
    await createFlag('forgotten');
    await createFlag('after-restore');
    await whileStopped(async (query) => {
      await query('create database backup template bunting_change_requests');
    });
    const lostByRestore = await applyStrategy('forgotten', 'before');
    await whileStopped(async (query) => {
      await query('drop database bunting_change_requests');
      await query('alter database backup rename to bunting_change_requests');
    });
    expect(await titlesOf('forgotten')).toEqual(['before']);
    expect(await applyStrategy('after-restore', 'after')).toBe(lostByRestore);
    expect(await titlesOf('after-restore')).toEqual(['after']);
  });
});
