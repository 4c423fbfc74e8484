import { eventually } from '@bunting/testing';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { runProgram } from '../../../apps/all-in-one/test/support/platform.ts';
import { backupSize } from '../../backup/manifest.ts';
import { verifyBackup } from '../../backup/verify-backup.ts';
import { withServiceDatabases } from '../../databases/service-databases.ts';
import { startServer } from '../../server-under-test.ts';
import { fillEventLog, pruneOutbox } from '../generated-events.ts';
import { type BenchOptions, seedFlags, send } from '../run.ts';

function mebibytes(bytes: number): number {
  return Number((bytes / 1024 ** 2).toFixed(1));
}

/** SQL: a row for each event of features that has no position yet, and for each consumer that has not confirmed all events. */
const unfinishedDelivery = `
  select from outbox where topic = 'event' and position is null
  union all
  select from outbox_consumer reader join outbox_topic head using (topic) where topic = 'event' and reader.position < head.position`;

/** Measures how long a backup takes while Bunting runs, and how long it takes from the backup to a server that is ready; prints a table. */
export async function benchBackup({ features = 10_000, events = 100_000 }: BenchOptions): Promise<unknown> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bunting-bench-backup-'));
  // When root starts PostgreSQL, it runs as another user, who must be able to reach its data folder below this one.
  chmodSync(folder, 0o711);
  const [dataDir, backupDir, restoredDir] = ['data', 'backup', 'restored'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  try {
    const { server, bytes } = await startWithData(dataDir, { features, events });
    const backupCommand = await measureCommand('scripts/backup.ts', dataDir, backupDir).finally(() => server.stop());
    const manifest = await verifyBackup(backupDir);
    const pausedMs = Number(/Writers waited for (\d+) ms/.exec(backupCommand.text)?.[1]);
    const { seconds: verifySeconds } = await measureCommand('scripts/backup-verify.ts', dataDir, backupDir);
    const { seconds: restoreSeconds } = await measureCommand('scripts/restore.ts', restoredDir, backupDir);
    const restored = await startServer({}, { dataDir: restoredDir, keepData: true });
    const readySeconds = restored.readyMs / 1_000;
    const { total } = (
      await send<{ total: number }>(restored, 'GET', '/api/admin/search/features?limit=1').finally(restored.stop)
    ).reply;
    if (total !== features) throw new Error(`The restored Bunting finds ${total} of ${features} features.`);
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
    console.log(`\n| ${features} flags, ${events} events | |\n| --- | ---: |`);
    for (const [label, figure] of rows) console.log(`| ${label} | ${Number(figure.toFixed(1))} |`);
    return { features, events, rows: Object.fromEntries(rows) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts a Bunting, and fills it with flags and events. @returns the server, and the bytes of its databases */
async function startWithData(dataDir: string, { features, events }: { features: number; events: number }) {
  const server = await startServer({ AUDIT_POLL_INTERVAL_MS: '20' }, { dataDir, keepData: true });
  const fill = async (): Promise<number> => {
    await seedFlags(server, { count: features });
    return withServiceDatabases({ BUNTING_DATA_DIR: dataDir }, {}, async (databases) => {
      const clients = databases.map(({ url }) => new pg.Client({ connectionString: url }));
      await Promise.all(clients.map((client) => client.connect()));
      const clientOf = (name: string) => clients[databases.findIndex(({ service }) => service === name)] as pg.Client;
      const outbox = clientOf('features');
      const waitUntilConsumed = () =>
        eventually(async () => {
          if ((await outbox.query(unfinishedDelivery)).rowCount !== 0) throw new Error('A consumer is behind.');
        });
      await waitUntilConsumed();
      await fillEventLog(events, outbox, clientOf('audit'));
      await waitUntilConsumed();
      await pruneOutbox(outbox);
      let bytes = 0;
      for (const client of clients) {
        await client.query('checkpoint');
        const size = await client.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes');
        bytes += Number(size.rows[0]?.bytes);
        await client.end();
      }
      return bytes;
    });
  };
  try {
    return { server, bytes: await fill() };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Runs a command of the repository to its end. @returns its seconds, and what it has printed */
async function measureCommand(script: string, dataDir: string, folder: string) {
  const startedAt = performance.now();
  const program = runProgram(script, { BUNTING_DATA_DIR: dataDir }, { args: [folder] });
  const { code } = await program.ended;
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${program.errors()}`);
  return { seconds: (performance.now() - startedAt) / 1_000, text: program.output() };
}
