import { type OutboxMessage, type StateOf, stateSchemas } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { Tx } from '@bunting/database';
import { Type } from 'typebox';
import { featureDocumentOf, lookupColumns, featureLookupOf, searchableDescriptionOf } from './feature-document.ts';

const stateMessage = <E extends keyof typeof stateSchemas>(entity: E) =>
  Type.Object({
    id: Type.String({ minLength: 1 }),
    version: Type.Integer(),
    state: Type.Union([stateSchemas[entity], Type.Null()]),
  });
const FeatureMessage = stateMessage('feature');
const SegmentMessage = stateMessage('segment');

/** The newest version of each entity: a statement can change a row only once. */
const newestOf = <E extends keyof typeof stateSchemas>(states: readonly StateOf<E>[]): readonly StateOf<E>[] => {
  const newest = new Map<string, StateOf<E>>();
  for (const state of states)
    if ((newest.get(state.id)?.version ?? -Infinity) < state.version) newest.set(state.id, state);
  return [...newest.values()];
};

const columnNames = Object.keys(lookupColumns);
const columnDefinitions = Object.entries(lookupColumns)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');
/** SQL: the list of the columns of `feature_lookup`, as columns of a table or alias. */
const columnsOf = (table: string): string => columnNames.map((name) => `${table}.${name}`).join(', ');

// A state with a newer version replaces the document. The row of feature_lookup, by which the feature is found, and its index entries are
// written only when one of its columns changes. Every part of the statement reads the rows as they were before it.
const applyFeaturesSql = `
  with incoming as (
    select * from json_to_recordset($1::json) as (name text, version bigint, document json, description text, ${columnDefinitions})
  ), newer as (
    insert into feature_document (name, version, document) select name, version, document from incoming
    on conflict (name) do update set version = excluded.version, document = excluded.document
    where feature_document.version < excluded.version
    returning name
  ), deleted as (
    delete from feature_lookup using newer join incoming using (name)
    where feature_lookup.name = newer.name and incoming.document is null
  ), described as (
    insert into feature_description (name, description)
    select name, description from incoming join newer using (name) where description is not null
    on conflict (name) do update set description = excluded.description
    where feature_description.description <> excluded.description
  ), undescribed as (
    delete from feature_description using newer join incoming using (name)
    where feature_description.name = newer.name and incoming.description is null
  ), recorded as (
    insert into feature_change (name, changed)
    select name, pg_current_xact_id() from newer join incoming using (name) left join feature_lookup existing using (name)
    where (existing.search_text, existing.archived) is distinct from (incoming.search_text, incoming.archived)
    on conflict (name) do update set changed = excluded.changed
  )
  insert into feature_lookup (name, ${columnNames.join(', ')})
  select name, ${columnsOf('incoming')} from incoming join newer using (name) where document is not null
  on conflict (name) do update set ${columnNames.map((name) => `${name} = excluded.${name}`).join(', ')}
  where (${columnsOf('feature_lookup')}) is distinct from (${columnsOf('excluded')})`;

const applySegmentsSql = `
  insert into segment (id, version, name)
  select id, version, name from json_to_recordset($1::json) as (id integer, version bigint, name text)
  on conflict (id) do update set version = excluded.version, name = excluded.name
  where segment.version < excluded.version`;

/**
 * Lets the next state of each entity replace the stored one, whatever its version: after the features service was restored from a backup,
 * it assigns the same versions a second time.
 */
export const acceptStatesAfterRestore = async ({ query }: Tx): Promise<void> => {
  await query('update feature_document set version = least(version, 0)');
  await query('update segment set version = least(version, 0)');
};

/** Stores states unless a newer version is stored. Idempotent: states may be redelivered, late or out of order. */
export const applyStates = async ({ query }: Tx, messages: readonly OutboxMessage[]): Promise<void> => {
  const payloads = (type: string): unknown[] =>
    messages.filter((message) => message.type === type).map((message) => message.payload);
  const features = newestOf(payloads('feature').map((payload) => parse(FeatureMessage, payload) as StateOf<'feature'>));
  const segments = newestOf(payloads('segment').map((payload) => parse(SegmentMessage, payload) as StateOf<'segment'>));
  if (segments.length > 0) {
    const rows = segments.map(({ id, version, state }) => ({ id: Number(id), version, name: state?.name ?? null }));
    await query(applySegmentsSql, [JSON.stringify(rows)]);
  }
  if (features.length > 0) {
    const rows = features.map(({ id, version, state }) => ({
      name: id,
      version,
      ...(state === null
        ? { document: null }
        : {
            document: featureDocumentOf(state),
            description: searchableDescriptionOf(state),
            ...featureLookupOf(state),
          }),
    }));
    await query(applyFeaturesSql, [JSON.stringify(rows)]);
  }
};
