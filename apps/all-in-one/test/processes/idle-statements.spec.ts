import { startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { eventually, startNats, withClient } from '@bunting/testing';
import { expect, it } from 'vitest';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiOf } from '../support/api.ts';
import { startHostedPlatform } from '../support/hosted-platform.ts';

const idleSeconds = 30;
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
    const folder = await mkdtemp(path.join(tmpdir(), 'bunting-idle-'));
    const postgres = await startCountingPostgres(path.join(folder, 'data'));
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
    await rm(folder, { recursive: true, force: true });
  },
);
