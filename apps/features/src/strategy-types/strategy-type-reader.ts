import type { ReadDatabase, Statement } from '@bunting/database';
import { strategyTypeNotFound } from '../refusals.ts';
import { readJson } from '../unit-of-work/read-json.ts';

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

/** Reads strategy types outside of transactions, as JSON. */
export const strategyTypeReader = (database: ReadDatabase) => ({
  all: (): Promise<string> => readJson(database, all),
  one: async (name: string): Promise<string> => {
    const [row] = await database.read<{ json: string }>(one, [name]);
    if (row === undefined) throw strategyTypeNotFound();
    return row.json;
  },
});
