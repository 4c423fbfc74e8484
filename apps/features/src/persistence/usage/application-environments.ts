import type { Caller } from '@bunting/contracts';
import type { Database, Statement } from '@bunting/database';
import { boundEnvironment } from '../../domain/application-token.ts';

/**
 * The environment that a request of an application is about: that of its token, else the named one. An admin token is bound
 * to none: without a name, or with `default` where no environment is called that, it is the first enabled environment.
 * Undefined where there is no such environment.
 */
export type FindApplicationEnvironment = (caller: Caller, named: string | undefined) => Promise<string | undefined>;

const environment: Statement = {
  name: 'environment-of-application',
  text: `
    select name from environment where name = $1 or ($2::boolean and enabled)
    order by name <> $1, sort_order, name limit 1`,
};

export const findApplicationEnvironment =
  (database: Database): FindApplicationEnvironment =>
  async (caller, named = 'default') => {
    const bound = boundEnvironment(caller);
    const values = [bound ?? named, bound === undefined && named === 'default'];
    return (await database.read<{ name: string }>(environment, values))[0]?.name;
  };
