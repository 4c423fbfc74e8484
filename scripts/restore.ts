import { backupSize } from './backup/manifest.ts';
import { verifyBackup } from './backup/verify-backup.ts';
import { restoreBackup, skipRevisionsAfterExternalRestore } from './backup/restore-backup.ts';
import { databasesHelp, withServiceDatabases } from './databases/service-databases.ts';
import { optionError, runCommand } from './command.ts';

const help = `Restores a backup into databases that are missing or empty, while no service runs.

  npm run restore -- FOLDER
  npm run restore -- --restored-otherwise TIME    after PostgreSQL was restored by other means to its state at TIME (RFC 3339, with Z or an offset):
                                                  SDKs get the full state, and no revision is assigned twice

${databasesHelp}
See docs/backup.md.`;

await runCommand(
  { help, options: { 'restored-otherwise': { type: 'string' } }, takesArguments: true },
  async (values, [folder, ...others]) => {
    const time = values['restored-otherwise'];
    if (time !== undefined) {
      if (folder !== undefined) throw optionError('It takes a FOLDER or --restored-otherwise, not both.');
      await withServiceDatabases(process.env, { create: false }, (databases) =>
        skipRevisionsAfterExternalRestore(databases, time),
      );
      return console.log('Revisions go on after all that SDKs may have. Start the services.');
    }
    if (folder === undefined || others.length > 0) throw optionError('It takes one FOLDER.');
    const beganAt = performance.now();
    const manifest = await verifyBackup(folder);
    await withServiceDatabases(process.env, { create: true }, (databases) =>
      restoreBackup(databases, folder, manifest),
    );
    console.log(
      `Restored everything as of ${manifest.at}: ${backupSize(manifest).rows} rows, in ${((performance.now() - beganAt) / 1_000).toFixed(1)} s. Start the services.`,
    );
  },
);
