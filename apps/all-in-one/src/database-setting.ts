import type { ServiceName } from '@bunting/contracts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The setting that holds the address of a service's database, and what the database is called where that is not set. */
export const databaseSettingOf = (service: ServiceName): { readonly setting: string; readonly database: string } => {
  const name = service.replaceAll('-', '_');
  return { setting: `${name.toUpperCase()}_DATABASE_URL`, database: `bunting_${name}` };
};

/** Whether the environment has a setting, or the name of a file with its value. */
export const isSettingGiven = (environment: Environment, setting: string): boolean =>
  Boolean(environment[setting]) || Boolean(environment[`${setting}_FILE`]);
