import { Refusal } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { Static, TObject, TSchema } from 'typebox';
import { closestTo } from './closest-to.ts';
import { readSecretFile } from './read-secret-file.ts';

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

const propertiesOf = (schema: ConfigSchema): [string, Property][] =>
  Object.entries(schema.properties) as [string, Property][];

/** Whether a setting may also come from the file that `<KEY>_FILE` names: secrets, and URLs that may hold a password. */
const mayComeFromFile = (key: string, { secret, mayHoldSecret }: Property): boolean =>
  secret === true || mayHoldSecret === true || key === 'BUS_URL' || key.endsWith('_DATABASE_URL');

/** The environment variables of all settings: for each its own, and for a secret also that of a file. */
export const keysOf = (schema: ConfigSchema): string[] =>
  propertiesOf(schema).flatMap(([key, property]) => (mayComeFromFile(key, property) ? [key, `${key}_FILE`] : [key]));

/** @throws ConfigError that names the setting, when the file cannot be used */
const readSecret = (setting: string, file: string): string => {
  const { text, fault } = readSecretFile(file);
  if (fault !== undefined) throw new ConfigError(`The file that ${setting} names ${fault}`);
  return text;
};

/** The text of a setting from the environment, or from the file that `<KEY>_FILE` names. */
const readText = (key: string, property: Property, environment: ProcessEnvironment): string | undefined => {
  const value = environment[key] || undefined;
  const file = mayComeFromFile(key, property) ? environment[`${key}_FILE`] || undefined : undefined;
  if (file === undefined) {
    if (value !== undefined && property.secretFile === true) readSecret(key, value);
    return value;
  }
  if (value !== undefined) throw new ConfigError(`${key} and ${key}_FILE are both set: remove one of them.`);
  return readSecret(`${key}_FILE`, file);
};

const descriptionInBrackets = ({ description }: Property): string =>
  description === undefined ? '' : ` (${description})`;

/** A validation message without the value: a setting may be a secret. */
const withoutValue = (message: string): string =>
  `it ${message.replace(/^The `[^`]*` property /, '').replace(/ You (?:sent|provided) [\s\S]*$/, '')}`;

/**
 * Reads the settings, typed and with their defaults. An empty value counts as absent, because Compose files pass it for unset variables.
 * @throws ConfigError with all faults
 */
export const readConfig = <S extends ConfigSchema>(schema: S, environment: ProcessEnvironment): Static<S> => {
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
};

/**
 * Variables that Kubernetes adds to each pod for a Service called e.g. `search` (`SEARCH_PORT=tcp://…`, `SEARCH_SERVICE_HOST`), and the one that
 * npm adds to each script (`INIT_CWD`).
 */
const isFromKubernetesOrNpm = (key: string, value: string): boolean =>
  key === 'INIT_CWD' ||
  /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_|$)/.test(key) ||
  (key.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value));

/**
 * A fault for each variable that begins with the prefix and is no setting of the schema. Such a variable is most likely a
 * misspelled setting, whose default would otherwise apply without notice.
 */
export const unknownSettings = (schema: ConfigSchema, prefix: string, environment: ProcessEnvironment): string[] => {
  const knownKeys = keysOf(schema);
  return Object.entries(environment).flatMap(([key, value = '']) => {
    if (!key.startsWith(prefix) || value === '' || knownKeys.includes(key) || isFromKubernetesOrNpm(key, value))
      return [];
    const closest = closestTo(key, knownKeys);
    return [`${key} is not a setting.${closest === undefined ? '' : ` Did you mean ${closest}?`}`];
  });
};
