import { natsBus } from '@bunting/bus/nats';
import { consumersOf, serviceNames } from '@bunting/contracts';
import { createDatabaseIfMissing, migrateEmptyDatabase } from '@bunting/database';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import {
  eventually,
  reservePort,
  type ReplicatedPostgres,
  startNats,
  startReplicatedPostgres,
  temporaryFolder,
  type TestNats,
  withClient,
} from '@bunting/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { runProgram } from '../../apps/all-in-one/test/support/platform.ts';
import { manifestPath, serializeManifest } from '../backup/manifest.ts';
import { serviceDatabasesAt, type ServiceDatabase } from '../databases/service-databases.ts';
import { type DiagnosisOptions, diagnose } from './diagnose.ts';

type Settings = Readonly<Record<string, string>>;

async function createDatabase({ url, database, migrations }: ServiceDatabase): Promise<void> {
  await createDatabaseIfMissing(url);
  await withClient(url, async (client) => {
    await client.query('begin');
    await migrateEmptyDatabase(client, database, migrations);
    await client.query('commit');
    // The PostgreSQL of the tests does not flush its log at commits, so that replicas would get commits late.
    await client.query(`alter database ${database} set synchronous_commit = on`);
  });
}

describe('npm run doctor', () => {
  const { path: folder, remove } = temporaryFolder(`bunting-doctor-spec-${process.pid}`);
  let servers: ReplicatedPostgres;
  /** the embedded PostgreSQL, as `npm start` uses it */
  let embedded: EmbeddedPostgres;
  let nats: TestNats;
  let service: Server;
  let address: string;
  let readiness: { status: number; reason?: string; unavailable?: string[] };
  /** the settings of a deployment without a problem */
  let settings: Settings;
  const backups = path.join(folder, 'backups');

  const onPrimary = (text: string) => withClient(servers.primary.urlOf('bunting_features'), (it) => it.query(text));
  const onReplica = (text: string) => withClient(servers.replica.urlOf('bunting_features'), (it) => it.query(text));

  /** Waits until the replica has replayed all that the primary has written, so that no check of its own finds it behind. */
  const untilReplayed = async (): Promise<void> => {
    const written = await onPrimary('select pg_current_wal_lsn() as lsn');
    const { lsn } = written.rows[0] as { lsn: string };
    await eventually(async () => {
      const replayed = `select from (select pg_last_wal_replay_lsn() >= '${lsn}' as is_replayed) it where is_replayed`;
      expect((await onReplica(replayed)).rowCount).toBe(1);
    });
  };

  /** @returns the exit code, the problems, and all that was found right */
  const runDoctor = async (environment: Settings, args: readonly string[] = []) => {
    const program = runProgram(
      'scripts/diagnose-deployment.ts',
      { BUNTING_DATA_DIR: path.join(folder, 'none'), ...environment },
      { args },
    );
    const { code } = await program.ended;
    const lines = `${program.output()}${program.errors()}`.trimEnd().split('\n');
    return {
      code,
      right: lines.filter((line) => line.startsWith('ok ')).map((line) => line.replace(/^ok +/, '')),
      problems: lines.filter((line) => !line.startsWith('ok ')),
    };
  };
  /** The problems that `diagnose` finds, called in this process. */
  const problemsOf = async (
    environment: Settings,
    { addresses = [], minFreeGib = 0, backups: folderOfBackups }: Partial<DiagnosisOptions> = {},
  ) => {
    const options = { addresses, minFreeGib, backups: folderOfBackups };
    const findings = await diagnose({ BUNTING_DATA_DIR: path.join(folder, 'none'), ...environment }, options);
    return findings.filter(({ isProblem }) => isProblem).map(({ component, text }) => `${component}: ${text}`);
  };
  const writeBackup = (name: string, at: Date): void => {
    const services = Object.fromEntries(
      serviceNames.map((one) => [one, { migrations: [], tables: [], sequences: [] }]),
    ) as unknown as Parameters<typeof serializeManifest>[0]['services'];
    mkdirSync(path.join(backups, name), { recursive: true });
    writeFileSync(
      manifestPath(path.join(backups, name)),
      serializeManifest({ format: 1, bunting: '0.1.0', at: at.toISOString(), services }),
    );
  };

  beforeAll(async () => {
    // When root starts PostgreSQL, it runs as another user, who must be able to reach its data folder below this one.
    chmodSync(folder, 0o711);
    [servers, embedded, nats] = await Promise.all([
      startReplicatedPostgres(),
      startEmbeddedPostgres({ dataDir: path.join(folder, 'postgres'), ephemeral: true }),
      startNats(),
    ]);
    const named = serviceDatabasesAt((name) => servers.primary.urlOf(name)).filter(({ service: name }) =>
      ['features', 'audit'].includes(name),
    );
    for (const database of [...named, ...serviceDatabasesAt((name) => embedded.urlOf(name))])
      await createDatabase(database);
    const bus = await natsBus({ url: nats.url, name: 'test' });
    await bus.prepareServer(Object.keys(consumersOf));
    await bus.close();
    service = createServer((_, response) =>
      response.writeHead(readiness.status, { 'content-type': 'application/json' }).end(JSON.stringify(readiness)),
    ).listen(0, '127.0.0.1');
    await once(service, 'listening');
    address = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    readiness = { status: 200 };
    settings = {
      FEATURES_DATABASE_URL: servers.primary.urlOf('bunting_features'),
      FEATURES_READ_DATABASE_URL: servers.replica.urlOf('bunting_features'),
      AUDIT_DATABASE_URL: servers.primary.urlOf('bunting_audit'),
      BUS_URL: nats.url,
    };
    await onPrimary('create table written (number int)');
    await eventually(() => onReplica('select from written'));
  });
  afterAll(async () => {
    service.close();
    await nats.stop();
    await embedded.stop();
    await servers.stop();
    await remove();
  });

  beforeEach(untilReplayed);

  it('finds no problem in a deployment without one, and says what it has checked', async () => {
    writeBackup('yesterday', new Date(Date.now() - 80_000_000));
    writeBackup('now', new Date(Date.now() - 600_000));
    const found = await runDoctor(settings, [address, '--backups', backups]);
    expect(found.problems).toEqual(['No problem was found.']);
    expect(found.code).toBe(0);
    expect(found.right).toEqual([
      expect.stringMatching(/^Node\.js: \d+\.\d+/),
      expect.stringMatching(/^PostgreSQL 127\.0\.0\.1:\d+: version 1[89]\.\d+, \d+ of \d+ connections$/),
      expect.stringMatching(/^PostgreSQL \S+: \d+\.\d GiB are free at \/.*\/primary$/),
      expect.stringMatching(/^features: all migrations, \d+ MiB$/),
      'features: every consumer follows the outbox',
      expect.stringMatching(/^features: its read replica at 127\.0\.0\.1:\d+ has replayed everything$/),
      'change-requests: not checked: CHANGE_REQUESTS_DATABASE_URL is not set',
      expect.stringMatching(/^audit: all migrations, \d+ MiB$/),
      'audit: no dead letters and no missed messages',
      'search: not checked: SEARCH_DATABASE_URL is not set',
      'integrations: not checked: INTEGRATIONS_DATABASE_URL is not set',
      'gateway: not checked: GATEWAY_DATABASE_URL is not set',
      expect.stringMatching(/^NATS: version \d+\.\d+\.\d+, with JetStream$/),
      'NATS: messages of up to 16777216 bytes',
      'NATS: 4 streams, which store 0 MiB',
      `backups in ${backups}: the newest of 2 is 0.2 hours old`,
      `${address}: ready`,
    ]);
  });

  it('checks the PostgreSQL of npm start where no address is set', async () => {
    const findings = await diagnose({ BUNTING_DATA_DIR: folder }, { addresses: [], minFreeGib: 0, backups: undefined });
    expect(findings.filter(({ isProblem }) => isProblem)).toEqual([]);
    expect(findings.filter(({ text }) => text.startsWith('all migrations')).map(({ component }) => component)).toEqual([
      'features',
      'change-requests',
      'audit',
      'search',
      'integrations',
      'gateway',
    ]);
  });

  it('asks the mail server that is set, and says what to do when it does not answer', async () => {
    const nowhere = await reservePort();
    expect(await problemsOf({ ...settings, SMTP_URL: `smtp://bunting:secret@127.0.0.1:${nowhere}` })).toEqual([
      expect.stringMatching(/^mail server: 127\.0\.0\.1:\d+ fails with E[A-Z]+\. Start it or correct SMTP_URL/),
    ]);
  });

  it('says what to do about a replica that is behind, away, of another cluster, or none', async () => {
    const used = 'Until then the primary serves its reads\\.';
    await onReplica('select pg_wal_replay_pause()');
    await onPrimary('insert into written values (1)');
    const behind = await problemsOf(settings);
    await onReplica('select pg_wal_replay_resume()');
    expect(behind).toEqual([
      expect.stringMatching(
        `^features: its read replica at \\S+ is [1-9]\\d* bytes of the log behind after a second\\. Resume its replay, or .*pg_stat_replication of the primary\\. ${used}$`,
      ),
    ]);
    const wrong = [
      [`postgres://127.0.0.1:${await reservePort()}/bunting_features`, 'connect ECONNREFUSED.*'],
      [embedded.urlOf('bunting_features'), 'it is of another cluster than the primary'],
      [servers.primary.urlOf('bunting_features'), 'it is no replica'],
    ] as const;
    for (const [url, reason] of wrong)
      expect(await problemsOf({ ...settings, FEATURES_READ_DATABASE_URL: url })).toEqual([
        expect.stringMatching(
          `^features: its read replica at 127\\.0\\.0\\.1:\\d+ cannot be used: ${reason}\\. Start it as a replica of this primary, or correct its address\\. ${used}$`,
        ),
      ]);
  });

  it('says what to do about signals that wait for their actions', async () => {
    const url = embedded.urlOf('bunting_integrations');
    const named = { INTEGRATIONS_DATABASE_URL: url };
    expect(await problemsOf(named)).toEqual([]);
    await withClient(url, async (client) => {
      await client.query(
        `insert into signal_endpoint (name, description, enabled, created_by) values ('alertmanager', '', true, 1)`,
      );
      await client.query(
        `insert into signal (endpoint_id, token_name, payload, created_at) select id, 'prod', '{}', now() - interval '3 minutes' from signal_endpoint`,
      );
    });
    expect(await problemsOf(named)).toEqual([
      expect.stringMatching(
        /^integrations: 1 signals of alertmanager wait for their actions, the first for \d+ s\. Start integrations, or see docs\/runbook\.md\.$/,
      ),
    ]);
    await withClient(url, (client) => client.query('delete from signal_endpoint'));
  });

  it('says what to do about destinations that fail, dead letters, and mails that wait', async () => {
    const url = embedded.urlOf('bunting_integrations');
    const named = { INTEGRATIONS_DATABASE_URL: url };
    await withClient(url, async (client) => {
      await client.query(
        `insert into integration (id, provider, description, enabled, parameters, events, projects, environments) overriding system value
         values (7, 'webhook', '', true, '{}', '[]', '[]', '[]'), (8, 'syslog', '', false, '{}', '[]', '[]', '[]')`,
      );
      await client.query('insert into destination (integration_id, position, failures) values (7, 1, 12), (8, 1, 12)');
      await client.query(
        `insert into parked_delivery (integration_id, uid, flag, event, attempts, next_attempt_at)
         select 7, gen_random_uuid(), 'flag a', '{}', 1, case when nth > 2 then now() end from generate_series(1, 1002) as nth`,
      );
      await client.query(
        `insert into mail (id, user_id, is_daily, created_at) values ('one', 1, false, now() - interval '1 hour')`,
      );
    });
    expect(await problemsOf(named)).toEqual([
      'integrations: integration 7 (webhook): the last 12 attempts failed; 1000 events wait, and it gets no new ones; 2 events are dead letters. Administration, Integrations in the console says why and sends them again; see docs/runbook.md.',
      expect.stringMatching(/^integrations: 1 mails to people wait for the mail server, the first for \d+ s\. /),
    ]);
    await withClient(url, async (client) => {
      await client.query('delete from integration');
      await client.query('delete from mail');
    });
  });

  it('says what to do about a slot without a reader, an archive that fails, and a disk that is almost full', async () => {
    await onPrimary("select pg_create_physical_replication_slot('unread', true)");
    // Each iteration begins a new file of the log, of 16 MiB.
    await onPrimary(
      'do $$ begin for files in 1..33 loop insert into written values (1); perform pg_switch_wal(); end loop; end $$',
    );
    await untilReplayed();
    const drop = "drop it: select pg_drop_replication_slot\\('unread'\\)\\.$";
    expect(await problemsOf(settings, { minFreeGib: 1_000_000 })).toEqual([
      expect.stringMatching(
        `^PostgreSQL \\S+: the replication slot unread has no reader and keeps 0\\.5 GiB of the log on the disk\\. Start its replica, or ${drop}`,
      ),
      expect.stringMatching(
        /^PostgreSQL \S+: only \d+\.\d GiB are free at \S+\/primary\. Free some space: without it every write is rejected with 503\.$/,
      ),
    ]);

    await onPrimary("alter system set max_slot_wal_keep_size = '16MB'");
    await onPrimary('select pg_reload_conf()');
    await eventually(async () => {
      await onPrimary('checkpoint');
      expect((await onPrimary("select from pg_replication_slots where wal_status = 'lost'")).rowCount).toBe(1);
    });
    await withClient(embedded.urlOf('postgres'), async (client) => {
      await client.query("alter system set archive_mode = 'on'");
      await client.query("alter system set archive_command = 'false'");
    });
    await embedded.stop();
    embedded = await startEmbeddedPostgres({ dataDir: path.join(folder, 'postgres'), ephemeral: true });
    await withClient(embedded.urlOf('bunting_audit'), async (client) => {
      await client.query('create table written (number int); select pg_switch_wal()');
      await eventually(async () =>
        expect((await client.query('select from pg_stat_archiver where failed_count > 0')).rowCount).toBe(1),
      );
    });
    await untilReplayed();
    expect(await problemsOf({ ...settings, AUDIT_DATABASE_URL: embedded.urlOf('bunting_audit') })).toEqual([
      expect.stringMatching(
        `^PostgreSQL \\S+: the replication slot unread has lost its log \\(lost\\)\\. Set its replica up again, or ${drop}`,
      ),
      expect.stringMatching(
        /^PostgreSQL \S+: archive_command has failed for [0-9A-F]{24} \(\d+ s ago\), .*Correct the command; the log of PostgreSQL says why it fails\.$/,
      ),
    ]);
    await onPrimary("select pg_drop_replication_slot('unread')");
  });

  it('says what to do about databases of other versions and secret files that are missing or open, and changes nothing', async () => {
    const at = (name: string) => embedded.urlOf(name);
    await withClient(at('bunting_search'), (client) =>
      client.query("insert into schema_migration (name) values ('99-contract-future')"),
    );
    const removed = await withClient(at('bunting_gateway'), (client) =>
      client.query<{ name: string }>(
        'delete from schema_migration where id = (select max(id) from schema_migration) returning name',
      ),
    );
    await withClient(at('postgres'), (client) => client.query('create database empty'));
    const open = path.join(folder, 'database_url');
    writeFileSync(open, at('bunting_change_requests'), { mode: 0o644 });
    const found = await runDoctor({
      FEATURES_DATABASE_URL: at('empty'),
      CHANGE_REQUESTS_DATABASE_URL_FILE: open,
      SEARCH_DATABASE_URL: at('bunting_search'),
      GATEWAY_DATABASE_URL: at('bunting_gateway'),
      BUS_URL: nats.url,
      BUS_USER: 'features',
      BUS_PASSWORD_FILE: path.join(folder, 'nowhere'),
    });
    expect([found.code, found.problems]).toEqual([
      1,
      [
        expect.stringMatching(/^PROBLEM features: The database empty at \S+ holds nothing of Bunting\./),
        'PROBLEM change-requests: The file that CHANGE_REQUESTS_DATABASE_URL_FILE names can be read by every user (mode 0644). Run chmod 0400 on it, or 0440 for a group.',
        'PROBLEM search: The database bunting_search was written by a newer version of Bunting (it has the migration "99-contract-future", which this version does not know). Start that version, or restore a backup from before the upgrade.',
        `PROBLEM gateway: The database bunting_gateway was left by an older version of Bunting (it lacks the migration "${removed.rows[0]?.name}"): start this version on it first.`,
        'PROBLEM settings: The file that BUS_PASSWORD_FILE names does not exist (ENOENT). Mount the secret there, or correct the path.',
        '5 problems were found.',
      ],
    ]);
    const tables = await withClient(at('empty'), (client) =>
      client.query("select from pg_tables where schemaname = 'public'"),
    );
    expect(tables.rowCount).toBe(0);
  });

  it('says what to do about clocks that differ, of PostgreSQL and of a service', async () => {
    const now = Date.now;
    const ahead = vi.spyOn(Date, 'now');
    try {
      ahead.mockImplementation(() => now() + 5_000);
      expect(await problemsOf(settings, { addresses: [address] })).toEqual([
        expect.stringMatching(
          /^PostgreSQL \S+: the clocks of this machine and of PostgreSQL differ by [45]\d{3} ms\. Synchronise both with NTP\.$/,
        ),
        expect.stringMatching(
          `^${address}: its clock and that of this machine differ by \\d s\\. Synchronise both with NTP: deadlines`,
        ),
      ]);
      ahead.mockImplementation(() => now() + 60_000);
      expect(await problemsOf(settings)).toEqual(
        (['features', 'audit'] as const).map((name) =>
          expect.stringMatching(
            `^${name}: The clock of this machine is (59|60|61) s ahead of that of the PostgreSQL at \\S+ Synchronise both with NTP`,
          ),
        ),
      );
    } finally {
      ahead.mockRestore();
    }
  });

  it('says what to do about NATS without JetStream, and with limits that are too small', async () => {
    const without = await startNats({ jetstream: false });
    const small = await startNats({
      config:
        'max_payload: 1MB\naccounts { A { jetstream { max_file: 64MB }, users: [{ user: audit, password: audit }] } }',
    });
    try {
      expect(await problemsOf({ ...settings, BUS_URL: without.url })).toEqual([
        expect.stringMatching(/^NATS: The NATS server at \S+ has no JetStream for this user .* Add jetstream/),
      ]);
      const access = { BUS_URL: small.url, BUS_USER: 'audit', BUS_PASSWORD: 'audit' };
      expect(await problemsOf({ ...settings, ...access })).toEqual([
        'NATS: max_payload is 1048576 bytes: imports of more are refused with 413. Set max_payload: 16MB.',
        'NATS: has 0 of the 4 streams of features, change-requests, gateway, integrations. Start these services, which create them; their logs say why one cannot be created.',
        'NATS: the account may store 64 MiB, and full streams need 1024 MiB. Raise max_file of JetStream for the account.',
      ]);
    } finally {
      await Promise.all([without.stop(), small.stop()]);
    }
  });

  it('says what to do about backups that are old or incomplete, and services that are not ready', async () => {
    readiness = { status: 503, reason: 'The message bus is disconnected.' };
    rmSync(path.join(backups, 'now'), { recursive: true });
    expect(await problemsOf(settings, { addresses: [address], backups })).toEqual([
      `${address}: is not ready (503): The message bus is disconnected.`,
    ]);
    readiness = { status: 200, unavailable: ['bus', 'database'] };
    expect(await problemsOf(settings, { addresses: [address] })).toEqual([
      `${address}: serves SDKs from memory, and answers 503 to administrators: unavailable are bus and database.`,
    ]);
    rmSync(manifestPath(path.join(backups, 'yesterday')));
    const advice = 'Run npm run backup, and look why cron did not.';
    expect(await problemsOf(settings, { backups })).toEqual([`backups in ${backups}: none is complete. ${advice}`]);
    writeBackup('old', new Date(Date.now() - 100_000_000));
    expect(await problemsOf(settings, { backups })).toEqual([
      `backups in ${backups}: the newest of 1 is 27.8 hours old. ${advice}`,
    ]);
    expect(await problemsOf(settings, { backups: path.join(folder, 'nowhere') })).toEqual([
      expect.stringMatching(/^backups in \S+\/nowhere: cannot be read \(ENOENT.*\)\. Correct the folder\.$/),
    ]);
  });

  it('names an option that it does not know or that has no number, and checks nothing', async () => {
    for (const [args, reason] of [
      [['--fix'], /'--fix'.*Run it with --help to see its options\.$/],
      [['--free-gib', 'much'], /^--free-gib takes a number, not much\. Run it with --help/],
    ] as const) {
      const { code, problems } = await runDoctor(settings, args);
      expect([code, problems]).toEqual([2, [expect.stringMatching(reason)]]);
    }
  });
});
