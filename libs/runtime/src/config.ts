import { parse, Refusal } from '@bunting/contracts';
import { readFileSync } from 'node:fs';
import type { Static, TObject, TSchema } from 'typebox';

/** What a service reads from its environment, key by key; the README's table is made from the same schemas. */
export type ConfigSchema = TObject;

/** Settings that do not fit. The message tells all of them at once, one a line. */
export class ConfigError extends Error {}

const isOptional = (schema: ConfigSchema, key: string): boolean => !(schema.required ?? []).includes(key);

/** A secret, or an address that holds a password: it may also come from the file that `<KEY>_FILE` names. */
export const mayComeFromFile = (key: string, property: object): boolean =>
  (property as { secret?: true }).secret === true || key.endsWith('_DATABASE_URL');

/** The text of a setting: that of the environment, or of the file that the environment names, without its last line break. */
const textOf = (
  key: string,
  property: object,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined => {
  const given = environment[key] || undefined;
  const file = mayComeFromFile(key, property) ? environment[`${key}_FILE`] || undefined : undefined;
  if (file === undefined) return given;
  if (given !== undefined) throw new ConfigError(`${key} and ${key}_FILE are both set: remove one of them.`);
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '') || undefined;
  } catch (error) {
    throw new ConfigError(`The file that ${key}_FILE names cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
};

/**
 * The settings, typed and with their defaults. An empty value counts as absent, as compose files write it.
 * @throws ConfigError that tells every fault.
 */
export const readConfig = <S extends ConfigSchema>(
  schema: S,
  environment: Readonly<Record<string, string | undefined>>,
): Static<S> => {
  const faults: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [key, property] of Object.entries(schema.properties) as [
    string,
    TSchema & { default?: unknown; description?: unknown },
  ][]) {
    let given: string | undefined;
    try {
      given = textOf(key, property, environment);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(error.message);
      continue;
    }
    if (given === undefined) {
      if (property.default !== undefined) config[key] = property.default;
      else if (!isOptional(schema, key)) faults.push(`${key} is required${describe(property)}.`);
      continue;
    }
    try {
      const holder = { [key]: given };
      const one = { type: 'object', properties: { [key]: property } } as unknown as ConfigSchema;
      config[key] = (parse(one, holder, '', 'as-text') as Record<string, unknown>)[key];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      faults.push(`${key} is not valid${describe(property)}: ${reason(error.message)}`);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return config as Static<S>;
};

const describe = (property: TSchema & { description?: unknown }): string =>
  typeof property.description === 'string' ? ` (${property.description})` : '';

/** What is wrong, without the value itself: a setting may be a secret. */
const reason = (message: string): string =>
  `it ${message.replace(/^The `[^`]*` property /, '').replace(/ You (?:sent|provided) [\s\S]*$/, '')}`;
