import {
  eventually,
  type ReplicatedPostgres,
  startReplicatedPostgres,
  testPostgresUrl,
  withClient,
} from '@bunting/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Registry } from 'prom-client';
import { type Database, openDatabase, openReadReplica, type ReadReplica, type SchemaMigration } from './index.ts';

const flags: SchemaMigration = {
  name: '1-flags',
  statements: ['create table flag (name text primary key, rolls int not null)'],
};
const readRolls = { text: 'select rolls, pg_is_in_recovery() as "fromReplica" from flag where name = $1' };

describe('a read replica', () => {
  let servers: ReplicatedPostgres;
  let database: Database;
  let warnings: string[];
  let metrics: Registry;
  let replica: ReadReplica;
  const opened: ReadReplica[] = [];

  const urlOf = (server: { urlOf(name: string): string }) => {
    const url = new URL(server.urlOf('replicated'));
    [url.username, url.password] = ['plain', 'secret'];
    return url.href;
  };
  const open = (
    url: string,
    options: { poolMax?: number; statementTimeoutMs?: number; name?: string; waitMs?: number } = {},
  ) => {
    metrics = new Registry();
    const made = openReadReplica({
      url,
      primary: database,
      name: 'test',
      metrics,
      log: { warn: (it) => void warnings.push(it) },
      // Only a defect takes as long as these timeouts.
      waitMs: 10_000,
      positionTimeoutMs: 10_000,
      ...options,
    });
    opened.push(made);
    return made;
  };
  const onReplica = (text: string) => withClient(servers.replica.urlOf('replicated'), (client) => client.query(text));
  const roll = (name: string, rolls: number) =>
    database.transaction(({ query }) =>
      query('insert into flag values ($1, $2) on conflict (name) do update set rolls = excluded.rolls', [name, rolls]),
    );
  const rollsOf = async (name: string) =>
    (await replica.read<{ rolls: number; fromReplica: boolean }>(readRolls, [name]))[0];
  /** How many reads had each outcome. */
  const outcomes = async () => {
    const counter = await metrics.getSingleMetric('bunting_database_replica_reads_total')?.get();
    return Object.fromEntries(counter?.values.map(({ labels, value }) => [labels['outcome'], value]) ?? []);
  };
  const servedByReplica = () => eventually(async () => expect((await rollsOf('steady'))?.fromReplica).toBe(true));

  beforeAll(async () => {
    servers = await startReplicatedPostgres();
    await withClient(servers.primary.urlOf('postgres'), async (client) => {
      await client.query("create role plain login password 'secret'");
      await client.query('create database replicated owner plain');
      // The PostgreSQL of the tests does not flush its log at commits, so that replicas would get commits late.
      await client.query('alter database replicated set synchronous_commit = on');
    });
    database = await openDatabase({ url: urlOf(servers.primary), name: 'test', migrations: [flags] });
    await roll('steady', 1);
    await eventually(() => onReplica('select from flag'));
  });
  beforeEach(async () => {
    warnings = [];
    replica = open(urlOf(servers.replica));
  });
  afterAll(async () => {
    await Promise.all(opened.map((one) => one.close()));
    await database.close();
    await servers.stop();
  });

  it('serves reads, each with everything that was committed before it', async () => {
    await servedByReplica();
    const writer = async (name: string) => {
      for (let rolls = 1; rolls <= 100; rolls++) {
        await roll(name, rolls);
        expect((await rollsOf(name))?.rolls).toBe(rolls);
      }
    };
    await eventually(async () => {
      await Promise.all(['a', 'b', 'c', 'd'].map(writer));
      expect((await outcomes())['replica']).toBeGreaterThan(10);
    });
  });

  it('leaves reads to the primary while its replay is paused, and takes them again when it has caught up', async () => {
    replica = open(urlOf(servers.replica), { waitMs: 50 });
    await servedByReplica();
    await onReplica('select pg_wal_replay_pause()');
    try {
      await roll('paused', 1);
      expect(await rollsOf('paused')).toEqual({ rolls: 1, fromReplica: false });
      await roll('paused', 2);
      expect(await rollsOf('paused')).toEqual({ rolls: 2, fromReplica: false });
      expect(warnings).toEqual([
        expect.stringMatching(
          /^The read replica of test at 127\.0\.0\.1:\d+ is not used: it is \d+ bytes of the log behind\. The primary serves its reads\. Check the replica and its replication\.$/,
        ),
      ]);
      expect((await outcomes())['behind']).toBeGreaterThanOrEqual(2);
      expect(await metrics.metrics()).toMatch(/^bunting_database_replica_lag_bytes [1-9]\d*$/m);
      expect(await metrics.metrics()).toContain('bunting_database_replica_bypassed 1');
    } finally {
      await onReplica('select pg_wal_replay_resume()');
    }
    await servedByReplica();
    expect(await rollsOf('paused')).toMatchObject({ rolls: 2 });
    expect(warnings.at(-1)).toMatch(/^The read replica of test at \S+ serves reads again\.$/);
    expect(await metrics.metrics()).toContain('bunting_database_replica_bypassed 0');
    await eventually(async () => {
      await rollsOf('paused');
      expect(await metrics.metrics()).toMatch(/^bunting_database_replica_lag_bytes 0$/m);
    });
  });

  it('is tried by one of many concurrent reads while it is behind', async () => {
    await onReplica('select pg_wal_replay_pause()');
    try {
      await roll('crowd', 1);
      replica = open(urlOf(servers.replica), { name: 'crowd', waitMs: 50 });
      const sessions = async () =>
        (
          await onReplica(
            "select query_start::text as at from pg_stat_activity where application_name = 'bunting-crowd-reads'",
          )
        ).rows as { at: string }[];
      expect(await rollsOf('crowd')).toEqual({ rolls: 1, fromReplica: false });
      const [first] = await sessions();
      await eventually(async () => {
        await Promise.all(Array.from({ length: 20 }, () => rollsOf('crowd')));
        expect((await sessions())[0]?.at).not.toBe(first?.at);
      });
      expect(await sessions()).toHaveLength(1);
    } finally {
      await onReplica('select pg_wal_replay_resume()');
    }
    await servedByReplica();
  });

  it('ends a statement that takes too long, and stays in use', async () => {
    replica = open(urlOf(servers.replica), { statementTimeoutMs: 2_000 });
    await servedByReplica();
    const slow = { text: 'select pg_sleep(case when pg_is_in_recovery() then 30 else 0 end)::text' };
    await expect(replica.read(slow)).rejects.toThrow(/^The database took too long for this request/);
    expect(warnings).toEqual([]);
    expect(await metrics.metrics()).toContain('bunting_database_replica_bypassed 0');
    expect(await rollsOf('steady')).toEqual({ rolls: 1, fromReplica: true });
  });

  it('stays in use when a read gets no connection because all serve others', async () => {
    replica = open(urlOf(servers.replica), { poolMax: 1 });
    await servedByReplica();
    let occupying: Promise<unknown> | undefined;
    await withClient(servers.replica.urlOf('replicated'), async (client) => {
      await client.query('select pg_advisory_lock(7)');
      occupying = replica.read({ text: 'select pg_advisory_xact_lock(7)::text' });
      await eventually(async () => {
        const { rows } = await client.query("select from pg_stat_activity where wait_event_type = 'Lock'");
        expect(rows).toHaveLength(1);
      });
      expect(await rollsOf('steady')).toEqual({ rolls: 1, fromReplica: false });
      await client.query('select pg_advisory_unlock(7)');
    });
    await occupying;
    expect(await outcomes()).toMatchObject({ busy: 1 });
    expect(warnings).toEqual([]);
    expect(await rollsOf('steady')).toEqual({ rolls: 1, fromReplica: true });
  });

  it('may be away, at the start and later: the primary serves all reads meanwhile, with a warning', async () => {
    await servedByReplica();
    await servers.stopReplica();
    try {
      const reads = Array.from({ length: 20 }, () => rollsOf('steady'));
      expect(new Set(await Promise.all(reads).then((all) => all.map((it) => it?.fromReplica)))).toEqual(
        new Set([false]),
      );
      expect(warnings).toEqual([expect.stringMatching(/ is not used: /)]);
      expect((await outcomes())['unavailable']).toBe(20);
      replica = open(urlOf(servers.replica));
      expect((await rollsOf('steady'))?.fromReplica).toBe(false);
    } finally {
      await servers.restartReplica();
    }
    await servedByReplica();
  });

  it('is not used when it is of another cluster, or no replica', async () => {
    const other = await testPostgresUrl();
    for (const [url, reason] of [
      [other, 'it is of another cluster than the primary'],
      [urlOf(servers.primary), 'it is no replica'],
    ] as const) {
      warnings = [];
      replica = open(url);
      expect(await rollsOf('steady')).toEqual({ rolls: 1, fromReplica: false });
      expect(warnings).toEqual([expect.stringContaining(` is not used: ${reason}. The primary serves its reads.`)]);
    }
  });

  it('stays in use when PostgreSQL refuses a statement', async () => {
    await servedByReplica();
    await expect(replica.read({ text: 'select $1::int' }, ['hostile'])).rejects.toThrow(/invalid input syntax/);
    expect(warnings).toEqual([]);
    await servedByReplica();
  });
});
