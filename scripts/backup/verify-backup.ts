import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type ServiceName, serviceNames } from '@bunting/contracts';
import { openDatabase } from '@bunting/database';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { listDeadLetters, listPrunedUnreadMessages } from '@bunting/outbox';
import { verifyChain } from '../../apps/audit/src/log/chain-store.ts';
import { isVerifiedWithoutMissingEvents } from '../../apps/audit/src/log/externally-recorded-hash.ts';
import { databaseOfService, serviceDatabasesAt } from '../databases/service-databases.ts';
import { BackupError, damagedBackupError, type Manifest, readManifest, type TableCopy, tablePath } from './manifest.ts';
import { restoreBackup } from './restore-backup.ts';

async function checkTable(folder: string, service: ServiceName, { name, bytes, sha256 }: TableCopy): Promise<void> {
  const file = tablePath(folder, service, name);
  const where = path.relative(folder, file);
  const size = (await stat(file).catch(() => undefined))?.size;
  if (size === undefined) throw damagedBackupError(folder, `the file ${where} is missing`);
  if (size !== bytes) throw damagedBackupError(folder, `the file ${where} has ${size} bytes instead of ${bytes}`);
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  if (hash.digest('hex') !== sha256) throw damagedBackupError(folder, `the file ${where} was changed`);
}

/**
 * Checks that a backup is complete, undamaged and not of a newer version, and returns what it has.
 * @throws BackupError with the reason
 */
export async function verifyBackup(folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  for (const service of serviceNames)
    for (const table of manifest.services[service]?.tables ?? []) await checkTable(folder, service, table);
  return manifest;
}

const signals = ['SIGINT', 'SIGTERM'] as const;

/** Restores and checks a backup in a PostgreSQL. @returns the number of events in the log */
async function restoreInto(postgres: EmbeddedPostgres, folder: string, manifest: Manifest): Promise<number> {
  const databases = serviceDatabasesAt((name) => postgres.urlOf(name));
  await restoreBackup(databases, folder, manifest);
  const log = await openDatabase({
    ...databaseOfService(databases, 'audit'),
    name: 'trial-restore',
    readOnlySchema: true,
    poolMax: 2,
  });
  try {
    const report = await verifyChain(log);
    const { fault, checked } = report;
    if (fault !== null) throw new BackupError(`The event log of the backup ${folder} is not intact: ${fault.message}`);
    if (!isVerifiedWithoutMissingEvents(report, await listPrunedUnreadMessages(log), await listDeadLetters(log)))
      throw new BackupError(
        `The event log of the backup ${folder} is not complete: it misses events, or has dead letters. Run audit:verify where the backup was made.`,
      );
    return checked;
  } finally {
    await log.close();
  }
}

/**
 * Restores a backup that was verified into a new PostgreSQL in a folder below `parent`, checks the hashes of the event log there, and removes it
 * again, also when SIGINT or SIGTERM interrupts it.
 * @returns the number of events in the log
 * @throws BackupError if the backup cannot be restored, its log is not intact, or a signal came
 */
export async function trialRestore(folder: string, manifest: Manifest, parent: string): Promise<number> {
  const temporaryFolder = await mkdtemp(path.join(parent, 'bunting-trial-restore-')).catch((error: Error) => {
    throw new BackupError(`The backup cannot be restored below ${parent}: ${error.message}.`, { cause: error });
  });
  let interrupt: (signal: NodeJS.Signals) => void = () => undefined;
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = (signal) => reject(new BackupError(`Interrupted by ${signal}. What was restored is removed.`));
  });
  interrupted.catch(() => undefined);
  for (const signal of signals) process.on(signal, interrupt);
  let starting: Promise<EmbeddedPostgres> | undefined;
  try {
    // When root starts PostgreSQL, it runs as another user, who must be able to reach its data folder below this one.
    await chmod(temporaryFolder, 0o711);
    starting = startEmbeddedPostgres({ dataDir: path.join(temporaryFolder, 'postgres'), ephemeral: true });
    const restoring = starting.then((postgres) => restoreInto(postgres, folder, manifest));
    return await Promise.race([restoring, interrupted]);
  } finally {
    await starting?.then(
      (postgres) => postgres.stop(),
      () => undefined,
    );
    await rm(temporaryFolder, { recursive: true, force: true });
    for (const signal of signals) process.off(signal, interrupt);
  }
}
