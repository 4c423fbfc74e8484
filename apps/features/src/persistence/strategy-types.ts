import { notFound } from '@bunting/contracts';
import type { Database, Statement, Tx } from '@bunting/database';
import type { User } from '../domain/users.ts';
import type { StoredStrategyType } from '../domain/strategy-type.ts';

/** Types of strategies within a unit of work. */
export interface StrategyTypeRepository {
  findForUpdate(name: string): Promise<StoredStrategyType | undefined>;
  /** False when there is one of that name already. */
  add(type: StoredStrategyType): Promise<boolean>;
  save(type: StoredStrategyType): Promise<void>;
  remove(name: string): Promise<void>;
  /** The features with a strategy of the type, archived ones too. */
  usersOf(name: string): Promise<User[]>;
}

export const strategyTypeRepository = ({ query }: Tx): StrategyTypeRepository => ({
  findForUpdate: async (name) => {
    const text = `
      select name, title, description, parameters, built_in as "builtIn", deprecated
      from strategy_type where name = $1 for update`;
    return (await query<StoredStrategyType>(text, [name]))[0];
  },

  add: async ({ name, title, description, parameters }) => {
    const text = `
      insert into strategy_type (name, title, description, parameters, sort_order)
      values ($1, $2, $3, $4::jsonb, 9999) on conflict do nothing returning name`;
    return (await query(text, [name, title, description, JSON.stringify(parameters)])).length > 0;
  },

  save: async ({ name, title, description, parameters, deprecated }) => {
    const text = `
      update strategy_type set title = $2, description = $3, parameters = $4::jsonb, deprecated = $5 where name = $1`;
    await query(text, [name, title, description, JSON.stringify(parameters), deprecated]);
  },

  remove: async (name) => {
    await query('delete from strategy_type where name = $1', [name]);
  },

  usersOf: async (name) => {
    const text = `
      select name, project from feature
      where strategy_ids <> '{}'
        and jsonb_path_exists(environments, '$.*.strategies[*] ? (@.name == $name)', jsonb_build_object('name', $1::text))
      order by name`;
    return query<User>(text, [name]);
  },
});

const json = `json_build_object('name', name, 'displayName', coalesce(title, name), 'title', title,
  'description', description, 'editable', not built_in, 'deprecated', deprecated, 'parameters', parameters)`;

const all: Statement = {
  name: 'strategy-types',
  text: `
    select json_build_object('version', 1, 'strategies', coalesce(json_agg(${json}
      order by sort_order, name), '[]'))::text as json from strategy_type`,
};
const one: Statement = {
  name: 'strategy-type',
  text: `select ${json}::text as json from strategy_type where name = $1`,
};

/** Types of strategies as they are now, as JSON, for who only looks. */
export interface StrategyTypeReader {
  all(): Promise<string>;
  one(name: string): Promise<string>;
}

export const strategyTypeReader = (database: Database): StrategyTypeReader => ({
  all: async () => (await database.read<{ json: string }>(all))[0]?.json ?? '',
  one: async (name) => {
    const [row] = await database.read<{ json: string }>(one, [name]);
    if (row === undefined) throw notFound('No strategy found');
    return row.json;
  },
});
