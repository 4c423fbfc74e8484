import type { ReadDatabase, Statement } from '@bunting/database';
import type { StoredContextField } from './context-field.ts';
import { noSuchContextField } from '../refusals.ts';
import { ContextFieldEntity, sql } from '../unit-of-work/entities.ts';
import { strategiesWhereSql } from '../unit-of-work/strategies-sql.ts';
import { readJson } from '../unit-of-work/read-json.ts';

const json = sql.jsonOf(
  ContextFieldEntity,
  'field',
  `${sql.jsonPairsOf(ContextFieldEntity, 'field', ['createdAt'])},
  'usedInProjects', coalesce(used.projects, 0), 'usedInFeatures', coalesce(used.features, 0)`,
);

const all: Statement = {
  name: 'context-fields',
  text: `
    with used as (
      select name, count(distinct project) as projects, count(*) as features
      from (select project, unnest(context_names) from feature 
        where context_names <> '{}' and archived_at is null and project <> all ($1::text[]))
        as uses (project, name) group by name)
    select coalesce(json_agg(${json} order by field.name collate "C"), '[]')::text as json
    from context_field field left join used on used.name = field.name`,
};
const one: Statement = {
  name: 'context-field',
  text: `
    select ${json}::text as json
    from context_field field cross join lateral (
      select count(distinct project) as projects, count(*) as features from feature
      where context_names @> array[field.name] and context_names <> '{}' and archived_at is null
        and project <> all ($2::text[])) as used
    where field.name = $1`,
};
const strategies: Statement = {
  name: 'strategies-of-context-field',
  text: `
    select json_build_object('strategies', ${strategiesWhereSql(
      `f.context_names @> array[field.name] and f.context_names <> '{}' and f.project <> all ($2::text[])`,
      `strategy -> 'constraints' @> jsonb_build_array(jsonb_build_object('contextName', field.name))`,
    )})::text as json
    from context_field field where field.name = $1`,
};
const legalValues: Statement = {
  name: 'legal-values',
  text: 'select legal_values as "legalValues" from context_field where name = $1',
};

/** Reads context fields outside of transactions. Uses in the projects `hidden` are left out. */
export const contextFieldReader = (database: ReadDatabase) => {
  const read = async (statement: Statement, name: string, hidden: readonly string[]): Promise<string> => {
    const [row] = await database.read<{ json: string }>(statement, [name, hidden]);
    if (row === undefined) throw noSuchContextField(name);
    return row.json;
  };
  return {
    all: (hidden: readonly string[]): Promise<string> => readJson(database, all, [hidden]),
    one: (name: string, hidden: readonly string[]) => read(one, name, hidden),
    strategiesOf: (name: string, hidden: readonly string[]) => read(strategies, name, hidden),
    find: async (name: string): Promise<Pick<StoredContextField, 'legalValues'> | undefined> =>
      (await database.read<Pick<StoredContextField, 'legalValues'>>(legalValues, [name]))[0],
  };
};
