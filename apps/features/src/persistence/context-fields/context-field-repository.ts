import { timestampSql, type Tx } from '@bunting/database';
import type { StoredContextField } from '../../domain/constraints/context-field.ts';
import type { Referrer } from '../../domain/require-unused.ts';
import { ContextFieldEntity, sql } from '../entities.ts';
import { defaultStrategiesWithField } from '../projects/default-strategies-sql.ts';

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

/** Context fields within a transaction. */
export const contextFieldRepository = (tx: Tx) => ({
  findForUpdate: async (name: string): Promise<StoredContextField | undefined> =>
    (await tx.query<StoredContextField>(findForUpdate, [name]))[0],

  /** Returns the time of creation; undefined if the name is taken. */
  add: async (field: StoredContextField): Promise<{ readonly createdAt: string } | undefined> =>
    (await tx.query<{ createdAt: string }>(insert, [JSON.stringify(sql.rowOf(ContextFieldEntity, field))]))[0],

  /** Adds the context fields that do not exist. */
  addMissing: async (fields: readonly StoredContextField[]): Promise<void> => {
    const rows = fields.map((field) => sql.rowOf(ContextFieldEntity, field));
    if (rows.length > 0) await tx.query(addMissing, [JSON.stringify(rows)]);
  },

  save: async ({ name, ...field }: StoredContextField): Promise<void> => {
    await tx.em.nativeUpdate(ContextFieldEntity, { name }, field);
  },

  remove: async (name: string): Promise<void> => {
    await tx.em.nativeDelete(ContextFieldEntity, { name });
  },

  /** The active features, and the default strategies of projects, with a constraint on the field. */
  referrersOf: async (name: string): Promise<Referrer[]> => {
    const text = `
      select name, project from feature where context_names @> array[$1::text] and context_names <> '{}' and archived_at is null
      union all ${defaultStrategiesWithField('$1::text')} order by name`;
    return tx.query<Referrer>(text, [name]);
  },
});
