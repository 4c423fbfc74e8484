import { tmpdir } from 'node:os';
import path from 'node:path';
import { backupSize } from './backup/manifest.ts';
import { verifyBackup, trialRestore } from './backup/verify-backup.ts';
import { optionError, runCommand } from './command.ts';

const help = `Checks that a backup is complete and undamaged, and that this version can restore it.

  npm run backup:verify -- FOLDER
  npm run backup:verify -- FOLDER --restore [PARENT]    restores it into a PostgreSQL of its own, and checks the event log there.
                                                        Its data is in a new folder below PARENT, else of the system's temporary
                                                        folder, and is removed at the end.

The exit code is 1 if it cannot be restored; the reason is printed. See docs/backup.md.`;

await runCommand(
  { help, options: { restore: { type: 'boolean', default: false } }, takesArguments: true },
  async (values, [folder, parent, ...others]) => {
    if (folder === undefined || others.length > 0) throw optionError('It takes one FOLDER.');
    if (parent !== undefined && !values.restore) throw optionError('Only --restore takes a PARENT.');
    const manifest = await verifyBackup(folder);
    const { rows, bytes } = backupSize(manifest);
    console.log(`Intact: everything as of ${manifest.at}, ${rows} rows in ${(bytes / 1024 / 1024).toFixed(1)} MiB.`);
    if (!values.restore) return;
    const events = await trialRestore(folder, manifest, path.resolve(parent ?? tmpdir()));
    console.log(`Restored: the event log is intact, with ${events} events.`);
  },
);
