import { serviceNames, type ServiceName } from '@bunting/contracts';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { damagedBackupError, type Manifest, readManifest, type TableCopy, tablePath } from './manifest.ts';

const checkTable = async (folder: string, service: ServiceName, { name, bytes, sha256 }: TableCopy): Promise<void> => {
  const file = tablePath(folder, service, name);
  const where = path.relative(folder, file);
  const size = (await stat(file).catch(() => undefined))?.size;
  if (size === undefined) throw damagedBackupError(folder, `the file ${where} is missing`);
  if (size !== bytes) throw damagedBackupError(folder, `the file ${where} has ${size} bytes instead of ${bytes}`);
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  if (hash.digest('hex') !== sha256) throw damagedBackupError(folder, `the file ${where} was changed`);
};

/**
 * Checks that a backup is complete, undamaged and not of a newer version, and returns what it has.
 * @throws BackupError with the reason
 */
export const verifyBackup = async (folder: string): Promise<Manifest> => {
  const manifest = await readManifest(folder);
  for (const service of serviceNames)
    for (const table of manifest.services[service].tables) await checkTable(folder, service, table);
  return manifest;
};
