import { ExportedFeatures, Refusal, lenientSchema } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { readFileSync } from 'node:fs';
import { UsageError } from '../command.ts';
import { batchesOf, type BatchSize } from './import-batches.ts';

/** The JSON of a file. @throws UsageError that names the file. */
export const readJsonFile = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_STRING_TOO_LONG' || code === 'ERR_FS_FILE_TOO_LARGE')
      throw new UsageError(`${file} is larger than 512 MB: export it in several files, by tag or by name.`);
    if (code !== undefined) throw new UsageError(`${file} cannot be read: ${message}`);
    throw new UsageError(`${file} is not JSON, or not whole: ${message}`);
  }
};

/** An export, split into batches for one request each. */
export interface Export {
  readonly file: string;
  readonly features: number;
  readonly parts: readonly ExportedFeatures[];
}

/** Runs a check of a file. @throws UsageError that names the file, for any error of the check */
const inFile = <T>(file: string, check: () => T): T => {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof Refusal)) throw new UsageError(`${file}: ${(error as Error).message}`);
    throw new UsageError(`${file}: ${error.details.map(({ message }) => message).join('\n')}`);
  }
};

/**
 * Reads exports, all of them before anything is sent. All are of one environment, because an import has one target.
 * @param listedSegments give the names of segments that an export uses by id, but does not name
 */
export const readExports = (
  files: readonly string[],
  size: BatchSize,
  listedSegments: readonly { readonly id: number; readonly name: string }[] = [],
): Export[] => {
  let firstExport: { readonly file: string; readonly environment: string } | undefined;
  return files.map((file) => {
    const json = readJsonFile(file);
    const data = inFile(file, () => parse(lenientSchema(ExportedFeatures), json));
    const namedIds = new Set(data.segments?.map(({ id }) => id));
    const segments = [...(data.segments ?? []), ...listedSegments.filter(({ id }) => !namedIds.has(id))];
    for (const { environment } of data.featureEnvironments ?? []) {
      if (environment === undefined) continue;
      firstExport ??= { file, environment };
      if (firstExport.environment === environment) continue;
      throw new UsageError(
        `${firstExport.file} is of the environment "${firstExport.environment}", and ${file} of "${environment}": import them one by one, each with its --environment.`,
      );
    }
    return { file, features: data.features.length, parts: inFile(file, () => batchesOf({ ...data, segments }, size)) };
  });
};
