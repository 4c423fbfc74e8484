import { notFound } from '@bunting/contracts';
import { type Database, momentSql, type Statement, type Tx } from '@bunting/database';
import type { StoredContextField } from '../domain/context-field.ts';
import { named } from '../domain/refusals.ts';
import type { User } from '../domain/users.ts';
import { strategiesWhere } from './strategy-uses.ts';

/** Context fields within a unit of work. */
export interface ContextFieldRepository {
  findForUpdate(name: string): Promise<StoredContextField | undefined>;
  /** When it was added; undefined when there is one of that name already. */
  add(field: StoredContextField): Promise<{ readonly createdAt: string } | undefined>;
  save(field: StoredContextField): Promise<void>;
  remove(name: string): Promise<void>;
  /** The active features with a constraint on the field. */
  usersOf(name: string): Promise<User[]>;
}

const valuesOf = ({ name, description, sortOrder, stickiness, legalValues }: StoredContextField): unknown[] => [
  name,
  description,
  sortOrder,
  stickiness,
  JSON.stringify(legalValues),
];

export const contextFieldRepository = ({ query }: Tx): ContextFieldRepository => ({
  findForUpdate: async (name) => {
    const text = `
      select name, description, stickiness, sort_order as "sortOrder", legal_values as "legalValues"
      from context_field where name = $1 for update`;
    return (await query<StoredContextField>(text, [name]))[0];
  },

  add: async (field) => {
    const text = `
      insert into context_field (name, description, sort_order, stickiness, legal_values)
      values ($1, $2, $3, $4, $5::jsonb) on conflict do nothing returning ${momentSql('created_at')} as "createdAt"`;
    return (await query<{ createdAt: string }>(text, valuesOf(field)))[0];
  },

  save: async (field) => {
    const text = `
      update context_field set description = $2, sort_order = $3, stickiness = $4, legal_values = $5::jsonb where name = $1`;
    await query(text, valuesOf(field));
  },

  remove: async (name) => {
    await query('delete from context_field where name = $1', [name]);
  },

  usersOf: async (name) => {
    const text = `
      select name, project from feature where context_names @> array[$1::text] and context_names <> '{}' and archived_at is null
      order by name`;
    return query<User>(text, [name]);
  },
});

const json = `json_build_object('name', field.name, 'description', field.description, 'stickiness', field.stickiness,
  'sortOrder', field.sort_order, 'legalValues', field.legal_values, 'createdAt', ${momentSql('field.created_at')},
  'usedInProjects', coalesce(used.projects, 0), 'usedInFeatures', coalesce(used.features, 0))`;

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
    select json_build_object('strategies', ${strategiesWhere(
      `f.context_names @> array[field.name] and f.context_names <> '{}' and f.project <> all ($2::text[])`,
      `strategy -> 'constraints' @> jsonb_build_array(jsonb_build_object('contextName', field.name))`,
    )})::text as json
    from context_field field where field.name = $1`,
};
const legalValues: Statement = {
  name: 'legal-values',
  text: 'select legal_values as "legalValues" from context_field where name = $1',
};

/** Context fields as they are now, for who only looks. */
export interface ContextFieldReader {
  all(hidden: readonly string[]): Promise<string>;
  one(name: string, hidden: readonly string[]): Promise<string>;
  strategiesOf(name: string, hidden: readonly string[]): Promise<string>;
  find(name: string): Promise<Pick<StoredContextField, 'legalValues'> | undefined>;
}

export const contextFieldReader = (database: Database): ContextFieldReader => {
  const read = async (statement: Statement, name: string, hidden: readonly string[]): Promise<string> => {
    const [row] = await database.read<{ json: string }>(statement, [name, hidden]);
    if (row === undefined) throw notFound(`Could not find context field ${named(name)}`);
    return row.json;
  };
  return {
    all: async (hidden) => (await database.read<{ json: string }>(all, [hidden]))[0]?.json ?? '',
    one: (name, hidden) => read(one, name, hidden),
    strategiesOf: (name, hidden) => read(strategies, name, hidden),
    find: async (name) => (await database.read<Pick<StoredContextField, 'legalValues'>>(legalValues, [name]))[0],
  };
};
