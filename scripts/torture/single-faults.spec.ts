import { eventually, temporaryFolder } from '@bunting/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { apiOf } from '../../apps/all-in-one/test/support/clients.ts';
import { seededRandom } from './seeded-random.ts';
import type { ServiceProcess } from './service-process.ts';
import { startCluster, type Cluster } from './cluster.ts';

const folder = temporaryFolder(`bunting-single-faults-spec-${process.pid}`);
const project = '/api/admin/projects/default';
let cluster: Cluster;
const api = <T = unknown>(method: string, address: string, body?: unknown) =>
  apiOf(cluster.urls[0] as string, cluster.token)<T>(method, address, body);

beforeAll(async () => {
  const scale = { features: 2, 'change-requests': 1, gateway: 1 };
  const settings = { GATEWAY_CALL_TIMEOUT_MS: '5000', CHANGE_REQUESTS_VOLUNTARY: 'true' };
  cluster = await startCluster({ folder: folder.path, scale, random: seededRandom(1), settings });
});
afterAll(async () => {
  await cluster.stop();
  await folder.remove();
});

/** Two processes of one service handle the writes; one is paused (SIGSTOP) until after their deadlines. */
describe('a write that was rejected while a process of its service was paused', () => {
  const features = `${project}/features`;
  let stopped: ServiceProcess;
  let flag: string;

  beforeAll(() => {
    stopped = cluster.processesOf('features')[0] as ServiceProcess;
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

/** The backup of the change requests is older than that of the features, as when databases are dumped one after the other. */
describe('after the change requests were restored to an older copy', () => {
  const place = `${project}/environments/development`;
  let service: ServiceProcess;

  beforeAll(() => {
    service = cluster.processesOf('change-requests')[0] as ServiceProcess;
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
