import { BackupError } from './backup/backup-error.ts';
import { backupSize } from './backup/manifest.ts';
import { verifyBackup } from './backup/verify-backup.ts';
import { restoreBackup } from './backup/restore-backup.ts';
import { databasesHelp, withServiceDatabases } from './databases/service-databases.ts';
import { skipRevisionsAfterExternalRestore } from './backup/skip-revisions-after-external-restore.ts';

const help = `Restores a backup into databases that are missing or empty, while no service runs.

  npm run restore -- FOLDER
  npm run restore -- --restored-otherwise TIME    after PostgreSQL was restored by other means to its state at TIME (RFC 3339, with Z or an offset):
                                                  SDKs get the full state, and no revision is assigned twice

${databasesHelp}
See docs/backup.md.`;

const main = async (): Promise<void> => {
  const [first, second, ...others] = process.argv.slice(2);
  if (first === '--help') return console.log(help);
  if (first === '--restored-otherwise' && second !== undefined && others.length === 0) {
    await withServiceDatabases(process.env, { create: false }, (databases) =>
      skipRevisionsAfterExternalRestore(databases, second),
    );
    return console.log('Revisions go on after all that SDKs may have. Start the services.');
  }
  if (first === undefined || first.startsWith('-') || second !== undefined) throw new BackupError(help);
  const began = performance.now();
  const manifest = await verifyBackup(first);
  await withServiceDatabases(process.env, { create: true }, (databases) => restoreBackup(databases, first, manifest));
  console.log(
    `Restored everything as of ${manifest.at}: ${backupSize(manifest).rows} rows, in ${((performance.now() - began) / 1_000).toFixed(1)} s. Start the services.`,
  );
};

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
