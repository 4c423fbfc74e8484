import { tmpdir } from 'node:os';
import path from 'node:path';
import { BackupError } from './backup/backup-error.ts';
import { backupSize } from './backup/manifest.ts';
import { verifyBackup } from './backup/verify-backup.ts';
import { trialRestore } from './backup/trial-restore.ts';

const help = `Checks that a backup is complete and undamaged, and that this version can restore it.

  npm run backup:verify -- FOLDER
  npm run backup:verify -- FOLDER --restore [PARENT]    restores it into a PostgreSQL of its own, and checks the event log there.
                                                        Its data is in a new folder below PARENT, else of the system's temporary
                                                        folder, and is removed at the end.

The exit code is 1 if it cannot be restored; the reason is printed. See docs/backup.md.`;

const main = async (): Promise<void> => {
  const [folder, option, parent = tmpdir(), ...others] = process.argv.slice(2);
  if (folder === '--help') return console.log(help);
  if (folder === undefined || folder.startsWith('-') || others.length > 0) throw new BackupError(help);
  if (option !== undefined && option !== '--restore') throw new BackupError(help);
  const manifest = await verifyBackup(folder);
  const { rows, bytes } = backupSize(manifest);
  console.log(`Intact: everything as of ${manifest.at}, ${rows} rows in ${(bytes / 1024 / 1024).toFixed(1)} MiB.`);
  if (option === undefined) return;
  const events = await trialRestore(folder, manifest, path.resolve(parent));
  console.log(`Restored: the event log is intact, with ${events} events.`);
};

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
