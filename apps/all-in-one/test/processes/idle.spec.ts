import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { eventually, startNats, temporaryFolder, type TestNats, withClient } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiOf } from '../support/clients.ts';
import { type HostedPlatform, startHostedPlatform } from '../support/hosted-platform.ts';

/** Longer than the interval of each background job but those that delete what has expired. */
const idleSeconds = 15;
const maxStatementsPerSecond = 5;

/** A PostgreSQL that counts the statements that it is sent. */
const startCountingPostgres = async (dataDir: string) => {
  const first = await startEmbeddedPostgres({ dataDir, ephemeral: true });
  await withClient(first.url, (client) =>
    client.query("alter system set shared_preload_libraries = 'pg_stat_statements'"),
  );
  await first.stop();
  const server = await startEmbeddedPostgres({ dataDir, ephemeral: true });
  await withClient(server.url, (client) => client.query('create extension pg_stat_statements'));
  return server;
};

/** How often each statement ran within some time, in all databases except the one that is queried, and the seconds of that time. */
const statementsOf = (url: string): Promise<{ seconds: number; statements: { calls: number; query: string }[] }> =>
  withClient(url, async (client) => {
    await client.query('select pg_stat_statements_reset()');
    await sleep(idleSeconds * 1_000);
    const { rows: statements } = await client.query<{ calls: number; query: string }>(
      `select calls::int, datname || ': ' || left(query, 120) as query
       from pg_stat_statements join pg_database on pg_database.oid = dbid
       where datname <> current_database() order by calls desc`,
    );
    const { rows: times } = await client.query<{ seconds: number }>(
      'select extract(epoch from clock_timestamp() - stats_reset)::float8 as seconds from pg_stat_statements_info',
    );
    return { seconds: times[0]?.seconds ?? 0, statements };
  });

// A rate is measured by the clock.
it.concurrent.each(['in one process', 'over NATS'])(
  'an idle platform %s sends at most 5 statements a second to PostgreSQL and logs nothing at info',
  async (bus) => {
    const folder = temporaryFolder(`bunting-idle-${process.pid}-${bus.replaceAll(' ', '-')}`);
    const postgres = await startCountingPostgres(path.join(folder.path, 'data'));
    const nats = bus === 'over NATS' ? await startNats() : undefined;
    const platform = await startHostedPlatform({ LOG_LEVEL: 'info', ...nats?.settings }, postgres.urlOf);
    const api = apiOf(platform.url, platform.token);
    await eventually(async () => expect((await api('GET', '/health/ready')).status).toBe(200));
    const features = '/api/admin/projects/default/features';
    expect((await api('POST', features, { name: 'idle' })).status).toBe(201);
    const found = async () => (await api<{ total: number }>('GET', '/api/admin/search/features?query=idle')).body.total;
    await eventually(async () => expect(await found()).toBe(1));
    // The first measurement may still count work that the requests caused.
    await eventually(
      async () => {
        const linesBefore = platform.lines().length;
        const { seconds, statements } = await statementsOf(postgres.url);
        const total = statements.reduce((sum, { calls }) => sum + calls, 0);
        const busiest = statements.slice(0, 10).map(({ calls, query }) => `${calls} ${query.replaceAll(/\s+/g, ' ')}`);
        expect(total <= maxStatementsPerSecond * seconds ? [] : [`${total} statements`, ...busiest]).toEqual([]);
        expect(platform.lines().slice(linesBefore)).toEqual([]);
      },
      { timeoutMs: 120_000 },
    );
    await platform.stop();
    await nats?.stop();
    await postgres.stop();
    await folder.remove();
  },
);

describe('the log', () => {
  let nats: TestNats;
  let platform: HostedPlatform;
  beforeAll(async () => {
    nats = await startNats();
    platform = await startHostedPlatform({
      ...nats.settings,
      LOG_LEVEL: 'debug',
      SEARCH_RECONCILE_INTERVAL_MS: '200',
      GATEWAY_PROJECTS_POLL_INTERVAL_MS: '100',
    });
  });
  afterAll(async () => {
    await platform.stop();
    await nats.stop();
  });

  it('an idle platform that is probed logs its own reads and the probes at debug, and nothing at info', async () => {
    await eventually(async () => expect((await fetch(`${platform.url}/health/ready`)).status).toBe(200));
    const linesOf = (wanted: Record<string, unknown>) =>
      platform.lines().filter((line) => Object.entries(wanted).every(([member, value]) => line[member] === value));
    const begin = platform.lines().length;
    const polls = () => linesOf({ operation: 'read-outbox' }).length;
    const pollsBefore = polls();
    for (const path of ['/health', '/health/live', '/health/ready'])
      expect((await fetch(`${platform.url}${path}`)).status).toBe(200);
    await eventually(() => {
      expect(polls()).toBeGreaterThan(pollsBefore + 20);
      expect(linesOf({ operation: 'read-states' }).length).toBeGreaterThan(2);
      expect(linesOf({ route: '/health/ready' }).length).toBeGreaterThan(1);
    });
    const later = platform.lines().slice(begin);
    expect(later.filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  it('a read that a client requests is logged at info', async () => {
    const headers = { authorization: platform.token };
    expect((await fetch(`${platform.url}/api/admin/projects/default/features`, { headers })).status).toBe(200);
    await eventually(() =>
      expect(platform.lines()).toContainEqual(expect.objectContaining({ level: 'info', operation: 'list-features' })),
    );
  });
});
