import type { Constraint } from '@bunting/contracts';
import { prepared, type ReadDatabase, type Statement, timestampSql, type Tx } from '@bunting/database';
import type { RecordEvents } from '@bunting/outbox';
import type { DomainEvent } from '../features/feature.ts';
import type { Referrer } from '../names.ts';
import type { ContextFieldReference } from '../projects/project-context.ts';
import { noSuchContextField } from '../refusals.ts';
import { ContextFieldEntity, sql } from '../unit-of-work/entities.ts';
import { strategiesWhereSql } from '../unit-of-work/feature-sql.ts';
import { defaultStrategiesWithField, readJson } from '../unit-of-work/sql.ts';
import type { StoredContextField } from './context-field.ts';

const json = sql.jsonOf(
  ContextFieldEntity,
  'field',
  `${sql.jsonPairsOf(ContextFieldEntity, 'field', ['createdAt'])},
  'usedInProjects', coalesce(used.projects, 0), 'usedInFeatures', coalesce(used.features, 0)`,
);

const all = prepared(`
  with used as (
    select name, count(distinct project) as projects, count(*) as features
    from (select project, unnest(context_names) from feature 
      where context_names <> '{}' and archived_at is null and project <> all ($1::text[]))
      as uses (project, name) group by name)
  select coalesce(json_agg(${json} order by field.name collate "C"), '[]')::text as json
  from context_field field left join used on used.name = field.name`);
const one = prepared(`
  select ${json}::text as json
  from context_field field cross join lateral (
    select count(distinct project) as projects, count(*) as features from feature
    where context_names @> array[field.name] and context_names <> '{}' and archived_at is null
      and project <> all ($2::text[])) as used
  where field.name = $1`);
const strategies = prepared(`
  select json_build_object('strategies', ${strategiesWhereSql(
    `f.context_names @> array[field.name] and f.context_names <> '{}' and f.project <> all ($2::text[])`,
    `strategy -> 'constraints' @> jsonb_build_array(jsonb_build_object('contextName', field.name))`,
  )})::text as json
  from context_field field where field.name = $1`);
const legalValues = prepared('select legal_values as "legalValues" from context_field where name = $1');

/** Reads context fields outside of transactions. Uses in the projects `hidden` are left out. */
export function contextFieldReader(database: ReadDatabase) {
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
}

const columns = sql.columnsOf(ContextFieldEntity, ['name', 'description', 'sortOrder', 'stickiness', 'legalValues']);

const findForUpdate = `
  select ${sql.selectOf(ContextFieldEntity, 'context_field')} from context_field where name = $1 for update`;

const insert = `
  insert into context_field (${columns.join(', ')})
  select ${columns.join(', ')} from json_populate_record(null::context_field, $1::json)
  on conflict do nothing returning ${timestampSql('created_at')} as "createdAt"`;

/** Inserts any number of context fields of an import in one statement. */
const addMissing = `
  insert into context_field (${columns.join(', ')})
  select ${columns.join(', ')} from json_populate_recordset(null::context_field, $1::json) order by name
  on conflict do nothing`;

export function contextFieldRepository(tx: Tx, recordEvents: RecordEvents) {
  return {
    findForUpdate: async (name: string): Promise<StoredContextField | undefined> =>
      (await tx.query<StoredContextField>(findForUpdate, [name]))[0],

    /** Those fields that exist among the ones that constraints name, by name. */
    referencedBy: async (
      constraints: readonly Pick<Constraint, 'contextName'>[],
    ): Promise<ReadonlyMap<string, ContextFieldReference>> => {
      const names = [...new Set(constraints.map(({ contextName }) => contextName))];
      if (names.length === 0) return new Map();
      const text = `select name, legal_values as "legalValues" from context_field where name = any ($1::text[])`;
      const rows = await tx.query<ContextFieldReference & { readonly name: string }>(text, [names]);
      return new Map(rows.map(({ name, legalValues }) => [name, { legalValues }]));
    },

    /** Returns the time of creation; undefined if the name is taken. */
    add: async (
      field: StoredContextField,
      events: readonly DomainEvent[],
    ): Promise<{ readonly createdAt: string } | undefined> => {
      const row = JSON.stringify(sql.rowOf(ContextFieldEntity, field));
      const [added] = await tx.query<{ createdAt: string }>(insert, [row]);
      if (added !== undefined) recordEvents(events);
      return added;
    },

    /** Adds the context fields that do not exist. */
    addMissing: async (fields: readonly StoredContextField[], events: readonly DomainEvent[]): Promise<void> => {
      const rows = fields.map((field) => sql.rowOf(ContextFieldEntity, field));
      if (rows.length > 0) await tx.query(addMissing, [JSON.stringify(rows)]);
      recordEvents(events);
    },

    /** Stores a locked field, unless it is the same object as before. */
    save: async (
      before: StoredContextField,
      after: StoredContextField,
      events: readonly DomainEvent[],
    ): Promise<void> => {
      const { name, ...field } = after;
      if (after !== before) await tx.em.nativeUpdate(ContextFieldEntity, { name }, field);
      recordEvents(events);
    },

    remove: async (name: string, events: readonly DomainEvent[]): Promise<void> => {
      await tx.em.nativeDelete(ContextFieldEntity, { name });
      recordEvents(events);
    },

    /** The active features, and the default strategies of projects, with a constraint on the field. */
    referrersOf: async (name: string): Promise<Referrer[]> => {
      const text = `
      select name, project from feature where context_names @> array[$1::text] and context_names <> '{}' and archived_at is null
      union all ${defaultStrategiesWithField('$1::text')} order by name`;
      return tx.query<Referrer>(text, [name]);
    },
  };
}
