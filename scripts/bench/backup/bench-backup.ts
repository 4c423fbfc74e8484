import { eventually, reservePort } from '@bunting/testing';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startPlatform } from '../../../apps/all-in-one/src/platform.ts';
import { runProgram } from '../../../apps/all-in-one/test/support/program.ts';
import { backupSize } from '../../backup/manifest.ts';
import { verifyBackup } from '../../backup/verify-backup.ts';
import { withServiceDatabases } from '../../databases/service-databases.ts';
import { fillEventLog, pruneOutbox } from '../events/fill-event-log.ts';
import { seedFlags } from '../http/seed-flags.ts';
import { existingServer } from '../http/server-under-test.ts';

interface BackupBench {
  readonly features: number;
  readonly events: number;
}

const token = '*:*.bench-0123456789abcdef0123456789abcdef';
const mebibytes = (bytes: number): number => Number((bytes / 1024 ** 2).toFixed(1));

const withClients = async <T>(
  urls: readonly string[],
  job: (clients: readonly pg.Client[]) => Promise<T>,
): Promise<T> => {
  const clients = urls.map((connectionString) => new pg.Client({ connectionString }));
  try {
    await Promise.all(clients.map((client) => client.connect()));
    return await job(clients);
  } finally {
    await Promise.allSettled(clients.map((client) => client.end()));
  }
};

/** SQL: a row for each event of features that has no position yet, and for each consumer that has not confirmed all events. */
const unfinishedDelivery = `
  select from outbox where topic = 'event' and position is null
  union all
  select from outbox_consumer reader join outbox_topic head using (topic) where topic = 'event' and reader.position < head.position`;

/** Starts a Bunting server, and fills it with flags and events. @returns the server, and the bytes of its databases */
const startWithData = async (dataDir: string, { features, events }: BackupBench) => {
  const platform = await startPlatform({
    BUNTING_DATA_DIR: dataDir,
    PORT: '0',
    GATEWAY_HOST: '127.0.0.1',
    BUNTING_ADMIN_TOKEN: token,
  });
  const fill = async (): Promise<number> => {
    await seedFlags(existingServer(platform.address, token), { count: features, how: 'import' });
    return withServiceDatabases({ BUNTING_DATA_DIR: dataDir }, { create: false }, (databases) =>
      withClients(
        databases.map(({ url }) => url),
        async (clients) => {
          const indexOf = (name: string) => databases.findIndex(({ service }) => service === name);
          const [outbox, log] = [clients[indexOf('features')], clients[indexOf('audit')]] as [pg.Client, pg.Client];
          const outboxUrl = databases[indexOf('features')]?.url ?? '';
          const waitUntilConsumed = () =>
            eventually(
              async () => {
                if ((await outbox.query(unfinishedDelivery)).rowCount !== 0) throw new Error('A consumer is behind.');
              },
              { timeoutMs: 60_000 },
            );
          await waitUntilConsumed();
          await fillEventLog(events, { outboxUrl, log, bus: platform.hosted.bus });
          await waitUntilConsumed();
          await pruneOutbox(outbox);
          const sizes = clients.map(async (client) => {
            await client.query('checkpoint');
            const { rows } = await client.query<{ bytes: string }>(
              'select pg_database_size(current_database()) as bytes',
            );
            return Number(rows[0]?.bytes);
          });
          return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
        },
      ),
    );
  };
  try {
    return { platform, bytes: await fill() };
  } catch (error) {
    await platform.stop();
    throw error;
  }
};

/** Runs a command of the repository to its end. @returns its seconds, and what it has printed */
const measureCommand = async (script: string, dataDir: string, folder: string) => {
  const startedAt = performance.now();
  const program = runProgram(script, { BUNTING_DATA_DIR: dataDir }, { args: [folder] });
  const { code } = await program.ended;
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${program.errors()}`);
  return { seconds: (performance.now() - startedAt) / 1_000, text: program.output() };
};

/** Starts a Bunting server on restored data, and checks the number of its features. @returns the seconds until it is ready */
const startRestored = async (dataDir: string, features: number): Promise<number> => {
  const port = await reservePort();
  const startedAt = performance.now();
  const program = runProgram('apps/all-in-one/src/main.ts', {
    BUNTING_DATA_DIR: dataDir,
    BUNTING_ADMIN_TOKEN: token,
    LOG_LEVEL: 'warn',
    PORT: String(port),
    GATEWAY_HOST: '127.0.0.1',
  });
  try {
    await eventually(
      async () => {
        if (!program.isRunning()) return;
        if (!(await fetch(`http://127.0.0.1:${port}/health/ready`)).ok) throw new Error('It is not ready.');
      },
      { timeoutMs: 120_000 },
    );
    const seconds = (performance.now() - startedAt) / 1_000;
    const response = await fetch(`http://127.0.0.1:${port}/api/admin/search/features?limit=1`, {
      headers: { authorization: token },
    });
    const { total } = (await response.json()) as { total: number };
    if (total !== features) throw new Error(`The restored Bunting finds ${total} of ${features} features.`);
    return seconds;
  } finally {
    program.signal('SIGTERM');
    await program.ended;
  }
};

/** Measures how long a backup takes while Bunting runs, and how long it takes from the backup to a server that is ready; prints a table. */
export const benchBackup = async (bench: BackupBench): Promise<unknown> => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bunting-bench-backup-'));
  // When root starts PostgreSQL, it runs as another user, who must be able to reach its data folder below this one.
  chmodSync(folder, 0o711);
  const [dataDir, backupDir, restoredDir] = ['data', 'backup', 'restored'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  try {
    const { platform, bytes } = await startWithData(dataDir, bench);
    const backupCommand = await measureCommand('scripts/backup.ts', dataDir, backupDir).finally(() => platform.stop());
    const manifest = await verifyBackup(backupDir);
    const pausedMs = Number(/Writers waited for (\d+) ms/.exec(backupCommand.text)?.[1]);
    const { seconds: verifySeconds } = await measureCommand('scripts/backup-verify.ts', dataDir, backupDir);
    const { seconds: restoreSeconds } = await measureCommand('scripts/restore.ts', restoredDir, backupDir);
    const readySeconds = await startRestored(restoredDir, bench.features);
    const rows = [
      ['databases, MiB', mebibytes(bytes)],
      ['backup, MiB', mebibytes(backupSize(manifest).bytes)],
      ['backup, s', backupCommand.seconds],
      ['writes waited, ms', pausedMs],
      ['verify, s', verifySeconds],
      ['restore, s', restoreSeconds],
      ['start until ready, s', readySeconds],
      ['restore and start, s', restoreSeconds + readySeconds],
    ] as const;
    console.log(`${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}`);
    console.log(`\n| ${bench.features} flags, ${bench.events} events | |\n| --- | ---: |`);
    for (const [label, figure] of rows) console.log(`| ${label} | ${Number(figure.toFixed(1))} |`);
    return { ...bench, rows: Object.fromEntries(rows) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
