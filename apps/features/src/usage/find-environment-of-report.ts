import { boundEnvironment, type Caller } from '@bunting/contracts';
import type { ReadDatabase, Statement } from '@bunting/database';

const selectEnvironment: Statement = {
  name: 'environment-of-application',
  text: `
    select name from environment where name = $1 or ($2::boolean and enabled)
    order by name <> $1, sort_order, name limit 1`,
};

/**
 * The environment that a report or a registration of an application is about: that of its token, or else the requested one. An admin token
 * is not bound to an environment: without a name, or with the name `default` if no environment has it, it gets the first enabled environment.
 * Undefined if the environment does not exist.
 */
export const findEnvironmentOfReport =
  (database: ReadDatabase) =>
  async (caller: Caller, requested: string = 'default'): Promise<string | undefined> => {
    const environmentOfToken = boundEnvironment(caller);
    const values = [environmentOfToken ?? requested, environmentOfToken === undefined && requested === 'default'];
    return (await database.read<{ name: string }>(selectEnvironment, values))[0]?.name;
  };
export type FindEnvironmentOfReport = ReturnType<typeof findEnvironmentOfReport>;
