import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type ServiceName, serviceNames } from '@bunting/contracts';
import { Ajv } from 'ajv';
import { allMigrations } from '../databases/service-databases.ts';

/** A reason for which a backup is not made, used or restored, with the next step. */
export class BackupError extends Error {}

export interface TableCopy {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: number;
  /** size and hash of the file `<service>/<name>.copy.gz` */
  readonly bytes: number;
  readonly sha256: string;
}

export interface DatabaseCopy {
  /** names of the applied migrations, in their order */
  readonly migrations: readonly string[];
  readonly tables: readonly TableCopy[];
  readonly sequences: readonly { readonly name: string; readonly value: number }[];
}

/** The services that were added after backups were made: a backup of a version before has no copy of their database. */
const laterServices: readonly ServiceName[] = ['integrations'];

/** The content of a backup and the time of its snapshots. The manifest is written last, so a folder without one is no backup. */
export interface Manifest {
  readonly format: 1;
  readonly bunting: string;
  readonly at: string;
  /** without the services that the version which made the backup did not have */
  readonly services: Readonly<Partial<Record<ServiceName, DatabaseCopy>>>;
}

const format = 1;
const manifestFile = 'manifest.json';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
/** A name that is safe in a path, whatever wrote the manifest. */
const identifier = { type: 'string', pattern: '^[a-z_][a-z0-9_]{0,62}$' };
function object(properties: Readonly<Record<string, object>>, optional: readonly string[] = []) {
  return {
    type: 'object',
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
    additionalProperties: false,
    properties,
  };
}
function listOf(items: object) {
  return { type: 'array', items };
}

const isManifest = new Ajv().compile<Manifest>(
  object({
    format: { const: format },
    bunting: text,
    at: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' },
    services: object(
      Object.fromEntries(
        serviceNames.map((service) => [
          service,
          object({
            migrations: listOf(text),
            tables: listOf(
              object({
                name: identifier,
                columns: { ...listOf(identifier), minItems: 1 },
                rows: count,
                bytes: count,
                sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
              }),
            ),
            sequences: listOf(object({ name: identifier, value: { type: 'integer' } })),
          }),
        ]),
      ),
      laterServices,
    ),
  }),
);

function hashOf(json: string): string {
  return createHash('sha256').update(json).digest('hex');
}

export function manifestPath(folder: string): string {
  return path.join(folder, manifestFile);
}
export function tablePath(folder: string, service: ServiceName, table: string): string {
  return path.join(folder, service, `${table}.copy.gz`);
}

/** The text of the file: the manifest, and the hash by which damage of it is detected. */
export function serializeManifest(manifest: Manifest): string {
  return `${JSON.stringify({ manifest, sha256: hashOf(JSON.stringify(manifest)) }, null, 1)}\n`;
}

/** The error for a backup that is damaged. */
export function damagedBackupError(folder: string, fault: string): BackupError {
  return new BackupError(`The backup ${folder} is damaged: ${fault}. Nothing was changed. Use another copy of it.`);
}

function newerVersionError(folder: string, how: string): BackupError {
  return new BackupError(
    `The backup ${folder} was made by a newer version of Bunting (${how}). Nothing was changed. Use that version.`,
  );
}

/** Reads the manifest of a backup. @throws BackupError if it is missing, damaged, or of a newer version */
export async function readManifest(folder: string): Promise<Manifest> {
  if (!(await stat(folder).catch(() => undefined))?.isDirectory())
    throw new BackupError(`There is no backup in ${folder}: it is not a folder.`);
  let file: { readonly manifest?: { readonly format?: unknown }; readonly sha256?: unknown };
  try {
    file = JSON.parse(await readFile(manifestPath(folder), 'utf8')) as typeof file;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw damagedBackupError(folder, `its ${manifestFile} cannot be read (${(error as Error).message})`);
    throw new BackupError(
      `The backup ${folder} is incomplete: it has no ${manifestFile}, which is written last. Nothing was changed. Use another backup.`,
    );
  }
  const { manifest, sha256 } = file;
  if (typeof manifest?.format === 'number' && manifest.format > format)
    throw newerVersionError(folder, `its format is ${manifest.format}, and this one knows ${format}`);
  if (hashOf(JSON.stringify(manifest)) !== sha256) throw damagedBackupError(folder, `its ${manifestFile} was changed`);
  if (!isManifest(manifest)) throw damagedBackupError(folder, `its ${manifestFile} does not describe a backup`);
  for (const service of serviceNames) {
    const knownMigrations = allMigrations[service].map(({ name }) => name);
    const unknownMigration = manifest.services[service]?.migrations.find((name) => !knownMigrations.includes(name));
    if (unknownMigration !== undefined)
      throw newerVersionError(folder, `the database of ${service} has the migration "${unknownMigration}"`);
  }
  return manifest;
}

/** Rows and compressed bytes of all tables. */
export function backupSize({ services }: Manifest): { readonly rows: number; readonly bytes: number } {
  const tables = serviceNames.flatMap((service) => services[service]?.tables ?? []);
  return {
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
