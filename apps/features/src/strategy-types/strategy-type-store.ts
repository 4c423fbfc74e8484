import { prepared, type ReadDatabase, type Tx } from '@bunting/database';
import type { RecordEvents } from '@bunting/outbox';
import type { DomainEvent } from '../features/feature.ts';
import type { Referrer } from '../names.ts';
import { strategyTypeNotFound } from '../refusals.ts';
import { sql, StrategyTypeEntity } from '../unit-of-work/entities.ts';
import { insertIfAbsent, readJson } from '../unit-of-work/sql.ts';
import type { StoredStrategyType } from './strategy-type.ts';

const json = `json_build_object('name', name, 'displayName', coalesce(title, name), 'title', title,
  'description', description, 'editable', not built_in, 'deprecated', deprecated, 'parameters', parameters)`;

const all = prepared(`
  select json_build_object('version', 1, 'strategies', coalesce(json_agg(${json}
    order by sort_order, name), '[]'))::text as json from strategy_type`);
const one = prepared(`select ${json}::text as json from strategy_type where name = $1`);

/** Reads strategy types outside of transactions, as JSON. */
export function strategyTypeReader(database: ReadDatabase) {
  return {
    all: (): Promise<string> => readJson(database, all),
    one: async (name: string): Promise<string> => {
      const [row] = await database.read<{ json: string }>(one, [name]);
      if (row === undefined) throw strategyTypeNotFound();
      return row.json;
    },
  };
}

const findForUpdate = `
  select ${sql.selectOf(StrategyTypeEntity, 'strategy_type')} from strategy_type where name = $1 for update`;

/** Custom strategy types are listed after the built-in ones. */
const sortOrder = 9999;

export function strategyTypeRepository(tx: Tx, recordEvents: RecordEvents) {
  return {
    findForUpdate: async (name: string): Promise<StoredStrategyType | undefined> =>
      (await tx.query<StoredStrategyType>(findForUpdate, [name]))[0],

    /** Returns false if the name is taken. */
    add: async (type: StoredStrategyType, events: readonly DomainEvent[]): Promise<boolean> => {
      const isAdded = await insertIfAbsent(tx, StrategyTypeEntity, { ...type, sortOrder });
      if (isAdded) recordEvents(events);
      return isAdded;
    },

    /** Stores a locked type, unless it is the same object as before. */
    save: async (
      before: StoredStrategyType,
      after: StoredStrategyType,
      events: readonly DomainEvent[],
    ): Promise<void> => {
      const { name, ...type } = after;
      if (after !== before) await tx.em.nativeUpdate(StrategyTypeEntity, { name }, type);
      recordEvents(events);
    },

    remove: async (name: string, events: readonly DomainEvent[]): Promise<void> => {
      await tx.em.nativeDelete(StrategyTypeEntity, { name });
      recordEvents(events);
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
  };
}
