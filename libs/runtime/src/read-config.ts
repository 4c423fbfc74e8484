import { readFileSync, realpathSync, statSync } from 'node:fs';
import { Refusal } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { Static, TObject, TSchema } from 'typebox';

/** The Levenshtein distance of two texts: how many single characters are inserted, deleted or replaced between them. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] as number) + (character === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

/** The candidate with the smallest edit distance to a name; undefined when even that differs in a third of the name or more. */
function closestTo(name: string, candidates: readonly string[]): string | undefined {
  let closest: string | undefined;
  let smallest = name.length / 3;
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance >= smallest) continue;
    smallest = distance;
    closest = candidate;
  }
  return closest;
}

/** More than any key or certificate has: the path of a larger file is a mistake. */
const maxBytes = 64 * 1024;

/** Whether container engines or Kubernetes have mounted the file: then every user of the container may read it, but no other user. */
function isMountedSecret(file: string): boolean {
  return /^(?:\/var)?\/run\/secrets\//.test(file);
}

function reasonFor({ code }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return `does not exist (${code}). Mount the secret there, or correct the path.`;
  if (code === 'EACCES' || code === 'EPERM')
    return `cannot be read by user ${process.geteuid?.()} (${code}). Give that user or its group the right to read it.`;
  return `cannot be read (${code}). Correct the path.`;
}

function faultOf(file: string): string | undefined {
  const stats = statSync(file);
  if (!stats.isFile()) return 'is not a regular file. Name the file itself, not its folder.';
  if (stats.size > maxBytes) return `has ${stats.size} bytes, more than a secret has. Correct the path.`;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  if ((stats.mode & 0o002) !== 0)
    return `can be changed by every user (mode ${mode}). Run chmod 0400 on it, and replace the secret.`;
  if ((stats.mode & 0o004) !== 0 && !isMountedSecret(file) && !isMountedSecret(realpathSync(file)))
    return `can be read by every user (mode ${mode}). Run chmod 0400 on it, or 0440 for a group.`;
  return undefined;
}

/**
 * The text of a file with a secret, without its final line break, or the fault that keeps it from being used: missing, unreadable, empty,
 * or open to other users. The fault names neither the path, which may be the secret itself by mistake, nor the content.
 */
function readSecretFile(file: string): { readonly text: string; readonly fault?: string } {
  try {
    const fault = faultOf(file);
    if (fault !== undefined) return { text: '', fault };
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    return text.trim() === '' ? { text: '', fault: 'is empty. Write the secret into it.' } : { text };
  } catch (error) {
    return { text: '', fault: reasonFor(error as NodeJS.ErrnoException) };
  }
}

/** The schema of a service's settings. The table of settings in the docs is generated from these schemas. */
export type ConfigSchema = TObject;

export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** Invalid settings. The message has one line per fault and no values: a setting may be a secret. */
export class ConfigError extends Error {}

type Property = TSchema & {
  readonly default?: unknown;
  readonly description?: string;
  readonly secret?: true;
  /** the setting is no secret itself, and may contain one */
  readonly mayHoldSecret?: true;
  /** the setting names a file with a secret, which the service reads itself */
  readonly secretFile?: true;
};

function propertiesOf(schema: ConfigSchema): [string, Property][] {
  return Object.entries(schema.properties) as [string, Property][];
}

/** Whether a setting may also come from the file that `<KEY>_FILE` names: secrets, and URLs that may hold a password. */
function mayComeFromFile(key: string, { secret, mayHoldSecret }: Property): boolean {
  return secret === true || mayHoldSecret === true || key === 'BUS_URL' || key.endsWith('_DATABASE_URL');
}

/** The environment variables of all settings: for each its own, and for a secret also that of a file. */
export function keysOf(schema: ConfigSchema): string[] {
  return propertiesOf(schema).flatMap(([key, property]) =>
    mayComeFromFile(key, property) ? [key, `${key}_FILE`] : [key],
  );
}

/** @throws ConfigError that names the setting, when the file cannot be used */
function readSecret(setting: string, file: string): string {
  const { text, fault } = readSecretFile(file);
  if (fault !== undefined) throw new ConfigError(`The file that ${setting} names ${fault}`);
  return text;
}

/** The text of a setting from the environment, or from the file that `<KEY>_FILE` names. */
function readText(key: string, property: Property, environment: ProcessEnvironment): string | undefined {
  const value = environment[key] || undefined;
  const file = mayComeFromFile(key, property) ? environment[`${key}_FILE`] || undefined : undefined;
  if (file === undefined) {
    if (value !== undefined && property.secretFile === true) readSecret(key, value);
    return value;
  }
  if (value !== undefined) throw new ConfigError(`${key} and ${key}_FILE are both set: remove one of them.`);
  return readSecret(`${key}_FILE`, file);
}

function descriptionInBrackets({ description }: Property): string {
  return description === undefined ? '' : ` (${description})`;
}

/** A validation message without the value: a setting may be a secret. */
function withoutValue(message: string): string {
  return `it ${message.replace(/^The `[^`]*` property /, '').replace(/ You (?:sent|provided) [\s\S]*$/, '')}`;
}

/**
 * Reads the settings, typed and with their defaults. An empty value counts as absent, because Compose files pass it for unset variables.
 * @throws ConfigError with all faults
 */
export function readConfig<S extends ConfigSchema>(schema: S, environment: ProcessEnvironment): Static<S> {
  const faults: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [key, property] of propertiesOf(schema)) {
    try {
      const text = readText(key, property, environment);
      if (text !== undefined) {
        const singleSetting = { type: 'object', properties: { [key]: property } } as unknown as ConfigSchema;
        config[key] = (parse(singleSetting, { [key]: text }, '', 'text') as Record<string, unknown>)[key];
      } else if (property.default !== undefined) config[key] = property.default;
      else if (schema.required?.includes(key) === true)
        faults.push(`${key} is required${descriptionInBrackets(property)}.`);
    } catch (error) {
      if (error instanceof ConfigError) faults.push(error.message);
      else if (error instanceof Refusal)
        faults.push(`${key} is not valid${descriptionInBrackets(property)}: ${withoutValue(error.message)}`);
      else throw error;
    }
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return config as Static<S>;
}

/**
 * Variables that Kubernetes adds to each pod for a Service called e.g. `search` (`SEARCH_PORT=tcp://…`, `SEARCH_SERVICE_HOST`), and the one that
 * npm adds to each script (`INIT_CWD`).
 */
function isFromKubernetesOrNpm(key: string, value: string): boolean {
  return (
    key === 'INIT_CWD' ||
    /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_|$)/.test(key) ||
    (key.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value))
  );
}

/**
 * A fault for each variable that begins with the prefix and is no setting of the schema. Such a variable is most likely a
 * misspelled setting, whose default would otherwise apply without notice.
 */
export function unknownSettings(schema: ConfigSchema, prefix: string, environment: ProcessEnvironment): string[] {
  const knownKeys = keysOf(schema);
  return Object.entries(environment).flatMap(([key, value = '']) => {
    if (!key.startsWith(prefix) || value === '' || knownKeys.includes(key) || isFromKubernetesOrNpm(key, value))
      return [];
    const closest = closestTo(key, knownKeys);
    return [`${key} is not a setting.${closest === undefined ? '' : ` Did you mean ${closest}?`}`];
  });
}
