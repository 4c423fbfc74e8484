import type { ServiceName } from '@bunting/contracts';

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The setting with the URL of a service's database, and the name of the database in the embedded PostgreSQL, which is used without it. */
export const databaseSettingOf = (service: ServiceName): { readonly setting: string; readonly database: string } => {
  const name = service.replaceAll('-', '_');
  return { setting: `${name.toUpperCase()}_DATABASE_URL`, database: `bunting_${name}` };
};

/** Whether the environment variables have a setting, or the name of a file with its value (`<SETTING>_FILE`). */
export const isSettingGiven = (environment: EnvironmentVariables, setting: string): boolean =>
  Boolean(environment[setting]) || Boolean(environment[`${setting}_FILE`]);
