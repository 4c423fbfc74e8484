import type { Tx } from '@bunting/database';
import type { Referrer } from '../../domain/require-unused.ts';
import type { StoredStrategyType } from '../../domain/strategies/strategy-type.ts';
import { sql, StrategyTypeEntity } from '../entities.ts';
import { insertIfAbsent } from '../sql/insert-if-absent.ts';

const findForUpdate = `
  select ${sql.selectOf(StrategyTypeEntity, 'strategy_type')} from strategy_type where name = $1 for update`;

/** Custom strategy types are listed after the built-in ones. */
const sortOrder = 9999;

/** Strategy types within a transaction. */
export const strategyTypeRepository = (tx: Tx) => ({
  findForUpdate: async (name: string): Promise<StoredStrategyType | undefined> =>
    (await tx.query<StoredStrategyType>(findForUpdate, [name]))[0],

  /** Returns false if the name is taken. */
  add: (type: StoredStrategyType): Promise<boolean> => insertIfAbsent(tx, StrategyTypeEntity, { ...type, sortOrder }),

  save: async ({ name, ...type }: StoredStrategyType): Promise<void> => {
    await tx.em.nativeUpdate(StrategyTypeEntity, { name }, type);
  },

  remove: async (name: string): Promise<void> => {
    await tx.em.nativeDelete(StrategyTypeEntity, { name });
  },

  /** The features, archived or not, with a strategy of the type. */
  referrersOf: async (name: string): Promise<Referrer[]> => {
    const text = `
      select name, project from feature
      where strategy_ids <> '{}'
        and jsonb_path_exists(environments, '$.*.strategies[*] ? (@.name == $name)', jsonb_build_object('name', $1::text))
      order by name`;
    return tx.query<Referrer>(text, [name]);
  },
});
