import { createDatabaseIfMissing, migrateEmptyDatabase } from '@bunting/database';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { eventually, startTcpProxy, temporaryFolder } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { databaseSettingOf } from '../../apps/all-in-one/src/database-setting.ts';
import { type Program, runProgram } from '../../apps/all-in-one/test/support/platform.ts';
import { verifyBackup } from './verify-backup.ts';
import { serviceDatabasesAt, type ServiceDatabase } from '../databases/service-databases.ts';
import { withConsistentSnapshots } from './create-backup.ts';

const locksOfBackups = `
  select datname as database, bool_and(granted) as granted from pg_locks join pg_stat_activity using (pid)
  where application_name = 'bunting-backup' and mode = 'ShareLock' and locktype = 'relation' group by datname`;

describe('a backup of databases that are in use', () => {
  const { path: folder, remove } = temporaryFolder(`bunting-snapshots-spec-${process.pid}`);
  const backup = path.join(folder, 'backup');
  const clients: pg.Client[] = [];
  let postgres: EmbeddedPostgres;
  let services: readonly ServiceDatabase[];
  let environment: Readonly<Record<string, string>>;

  const connect = async (name: string): Promise<pg.Client> => {
    const found = services.find(({ service }) => service === name);
    const client = new pg.Client({ connectionString: found?.url });
    clients.push(client);
    await client.connect();
    return client;
  };
  /** Whether all locks that backups request in a database are granted; undefined if they request none. */
  const hasLocks = async (observer: pg.Client, name: string): Promise<boolean | undefined> => {
    const { rows } = await observer.query<{ database: string; granted: boolean }>(locksOfBackups);
    return rows.find(({ database }) => database === `bunting_${name}`)?.granted;
  };
  const untilHalfLocked = (observer: pg.Client, locked: string, waiting: string) =>
    eventually(async () => {
      expect([await hasLocks(observer, locked), await hasLocks(observer, waiting)]).toEqual([true, false]);
    });
  const outcomeOf = async (program: Program) => {
    const { code } = await program.ended;
    return { code, text: `${program.output()}${program.errors()}` };
  };

  beforeAll(async () => {
    // When root starts PostgreSQL, it runs as another user, who must be able to reach its data folder below this one.
    chmodSync(folder, 0o711);
    postgres = await startEmbeddedPostgres({ dataDir: path.join(folder, 'postgres'), ephemeral: true });
    services = serviceDatabasesAt((name) => postgres.urlOf(name));
    for (const { service, url, database, migrations } of services) {
      await createDatabaseIfMissing(url);
      const client = await connect(service);
      await client.query('begin');
      await migrateEmptyDatabase(client, database, migrations);
      await client.query('create table written (name text); commit');
    }
    environment = Object.fromEntries(services.map(({ service, url }) => [databaseSettingOf(service).setting, url]));
  });
  afterAll(async () => {
    await Promise.allSettled(clients.map((client) => client.end()));
    await postgres.stop();
    await remove();
  });

  it('has one moment for all databases, also when the network delays the snapshot of one for longer than writers wait', async () => {
    const written = async (client: pg.Client) =>
      (await client.query<{ name: string }>('select name from written')).rows.map(({ name }) => name);
    const [inSearch, inGateway, observer] = [await connect('search'), await connect('gateway'), await connect('audit')];
    const waitsForLock = async (client: pg.Client) => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      return async () =>
        expect(
          (await observer.query('select from pg_locks where pid = $1 and not granted', [rows[0]?.pid])).rowCount,
        ).toBe(1);
    };
    const delayed: (() => void)[] = [];
    let isDelaying = true;
    const proxy = await startTcpProxy(
      () => postgres.port,
      ({ toClient, toServer }) => ({
        fromClient: (bytes) => {
          if (isDelaying && bytes.includes('repeatable read')) delayed.push(() => toServer(bytes));
          else toServer(bytes);
        },
        fromServer: toClient,
      }),
    );
    try {
      const throughProxy = services.map((service) => {
        const url = new URL(service.url);
        url.port = String(proxy.port);
        return service.service === 'gateway' ? { ...service, url: url.href } : service;
      });
      const copied = withConsistentSnapshots(throughProxy, async (snapshots) =>
        Promise.all(
          (['search', 'gateway'] as const).map((name) =>
            written(snapshots.find(({ service }) => service === name)?.client as pg.Client),
          ),
        ),
      );
      await eventually(() => expect(delayed).toHaveLength(1));
      const isWaiting = await waitsForLock(inSearch);
      const first = inSearch.query("insert into written values ('first')");
      await eventually(isWaiting);
      // PostgreSQL ends the transaction that holds the locks at its timeout, and so the attempt fails.
      await first;
      await inGateway.query("insert into written values ('second')");
      isDelaying = false;
      for (const pass of delayed) pass();
      expect(await copied).toEqual([['first'], ['second']]);
    } finally {
      await proxy.stop();
      for (const client of [inSearch, inGateway]) await client.query('truncate written');
    }
  });

  it('lets writes go on while a transaction holds a table, also when its process is suspended, and is complete after that', async () => {
    const [holder, writer, observer] = [await connect('search'), await connect('gateway'), await connect('audit')];
    await holder.query("begin; insert into written values ('before the backup')");
    const program = runProgram('scripts/backup.ts', environment, { args: [backup] });
    try {
      await untilHalfLocked(observer, 'gateway', 'search');
      await writer.query("insert into written values ('between attempts')");
      await eventually(async () => {
        process.kill(-program.pid, 'SIGCONT');
        await untilHalfLocked(observer, 'gateway', 'search');
        process.kill(-program.pid, 'SIGSTOP');
        expect(await hasLocks(observer, 'gateway')).toBe(true);
      });
      await writer.query("insert into written values ('while the backup is suspended')");
      await holder.query('commit');
    } finally {
      process.kill(-program.pid, 'SIGCONT');
    }
    const outcome = await outcomeOf(program);
    expect(outcome).toEqual({ code: 0, text: expect.stringContaining('has everything as of') });
    const { services: copies } = await verifyBackup(backup);
    const written = (['search', 'gateway'] as const).map((name) =>
      copies[name]?.tables.find((it) => it.name === 'written'),
    );
    expect(written.map((table) => table?.rows)).toEqual([1, 2]);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'whose restore is tried leaves no data behind when %s interrupts it',
    async (signal) => {
      const parent = path.join(folder, signal);
      mkdirSync(parent, { mode: 0o711 });
      const program = runProgram('scripts/backup-verify.ts', {}, { args: [backup, '--restore', parent] });
      await eventually(() => expect(readdirSync(path.join(parent, readdirSync(parent)[0] ?? '-'))).not.toEqual([]));
      process.kill(program.pid, signal);
      expect(await outcomeOf(program)).toEqual({
        code: 1,
        text: expect.stringMatching(
          new RegExp(`^Intact: [^]*Interrupted by ${signal}\\. What was restored is removed\\.\n$`),
        ),
      });
      expect(readdirSync(parent)).toEqual([]);
    },
  );
});
