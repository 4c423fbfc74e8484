import path from 'node:path';
import { createBackup } from './backup/create-backup.ts';
import { backupSize } from './backup/manifest.ts';
import { databasesHelp, withServiceDatabases } from './databases/service-databases.ts';
import { optionError, runCommand } from './command.ts';

const help = `Copies the databases of all services, as they are at one moment, into a new folder. The services may run; writes wait for a moment.

  npm run backup -- FOLDER

${databasesHelp}
See docs/backup.md.`;

await runCommand({ help, takesArguments: true }, async (_values, [folder, ...others]) => {
  if (folder === undefined || others.length > 0) throw optionError('It takes one FOLDER.');
  const beganAt = performance.now();
  const { manifest, pausedMs } = await withServiceDatabases(process.env, { create: false }, (databases) =>
    createBackup(databases, folder),
  );
  const { rows, bytes } = backupSize(manifest);
  console.log(
    `${path.resolve(folder)} has everything as of ${manifest.at}: ${rows} rows in ${(bytes / 1024 / 1024).toFixed(1)} MiB, ` +
      `in ${((performance.now() - beganAt) / 1_000).toFixed(1)} s. Writers waited for ${pausedMs.toFixed(0)} ms at most.`,
  );
});
