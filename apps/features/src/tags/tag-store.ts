import type { PageParameters, Tag } from '@bunting/contracts';
import { onlyRow, prepared, type ReadDatabase, type Statement, type Tx, violatedConstraint } from '@bunting/database';
import type { RecordEvents } from '@bunting/outbox';
import type { DomainEvent } from '../features/feature.ts';
import { tagNotFound, tagTypeNotFound } from '../refusals.ts';
import { sql, TagEntity, TagTypeEntity } from '../unit-of-work/entities.ts';
import { insertIfAbsent, orNull, readJson, withoutNulls } from '../unit-of-work/sql.ts';
import { SerializationFailure } from '../unit-of-work/unit-of-work.ts';
import type { StoredTagType } from './tag.ts';

const tagType = withoutNulls(
  `'name': name, 'description': ${orNull('description')}, 'icon': ${orNull('icon')}, 'color': color`,
);

/** SQL: whether all features with the tag are in the given projects. Reads no features if the list is empty. */
function onlyIn(projects: string): string {
  return `(type, value) in (
  select used.type, used.value
  from feature f, jsonb_to_recordset(f.tags) as used (type text, value text)
  where cardinality(${projects}::text[]) > 0
  group by 1, 2 having bool_and(f.project = any (${projects}::text[])))`;
}

const tags = prepared(`
  select json_build_object('version', 1, 'tags', coalesce(json_agg(json_build_object('type', type, 'value', value)
    order by type, value), '[]'))::text as json
  from (
    select type, value from tag where ($1::text is null or type = $1) and not ${onlyIn('$2')}
    order by type, value limit $3::int offset $4::int) as page`);
const oneTag = prepared(`
  select json_build_object('version', 1, 'tag', json_build_object('type', type, 'value', value))::text as json
  from tag where type = $1 and value = $2 and not ${onlyIn('$3')}`);
const tagTypes = prepared(`
  select json_build_object('version', 1, 'tagTypes', coalesce(json_agg(${tagType}
    order by name), '[]'))::text as json
  from tag_type`);
const oneTagType = prepared(`
  select json_build_object('version', 1, 'tagType', ${tagType})::text as json
  from tag_type where name = $1`);

/** Reads tags and tag types outside of transactions, as JSON. */
export function tagReader(database: ReadDatabase) {
  const find = async (statement: Statement, values: readonly unknown[]): Promise<string | undefined> =>
    (await database.read<{ json: string }>(statement, values))[0]?.json;
  return {
    /** The tags of a type, or of all types where it is null, without those that only hidden projects use. */
    all: (type: string | null, hidden: readonly string[], { limit, offset = 0 }: PageParameters): Promise<string> =>
      readJson(database, tags, [type, hidden, limit ?? null, offset]),
    one: async ({ type, value }: Tag, hidden: readonly string[]): Promise<string> => {
      const json = await find(oneTag, [type, value, hidden]);
      if (json === undefined) throw tagNotFound({ type, value });
      return json;
    },
    types: (): Promise<string> => readJson(database, tagTypes),
    type: async (name: string): Promise<string> => {
      const json = await find(oneTagType, [name]);
      if (json === undefined) throw tagTypeNotFound();
      return json;
    },
    isTypeTaken: async (name: string): Promise<boolean> => (await find(oneTagType, [name])) !== undefined,
  };
}

const featuresWithTag = 'select name from feature where tags @> $1::jsonb order by name limit $2';
function tagFilter(type: string, value: string | null): string {
  return JSON.stringify([value === null ? { type } : { type, value }]);
}

const findTypeForUpdate = `
  select ${sql.selectOf(TagTypeEntity, 'tag_type')} from tag_type where name = $1 for update`;

/** One statement for any number of tags, such as those of an import, that also reports which are new. */
const addMissing = `
  with requested as (
    select distinct type, value from json_to_recordset($1::json) as tag (type text, value text)
  ), added as (
    insert into tag (type, value)
    select requested.type, requested.value from requested join tag_type on tag_type.name = requested.type order by 1, 2
    on conflict do nothing returning type, value
  )
  select
    (select coalesce(json_agg(json_build_object('type', type, 'value', value) order by type, value), '[]') from added) as added,
    (select coalesce(json_agg(distinct type), '[]') from requested where type not in (select name from tag_type)) as "unknownTypes"`;

/** Inserts any number of tag types of an import in one statement. */
const addMissingTypes = `
  insert into tag_type select * from json_populate_recordset(null::tag_type, $1::json) order by name
  on conflict do nothing`;

export interface AddedTags {
  readonly added: readonly Tag[];
  readonly unknownTypes: readonly string[];
}

/** Tags and tag types within a transaction. */
export function tagRepository(tx: Tx, recordEvents: RecordEvents) {
  return {
    /**
     * Adds the tags that do not exist, unless their type does not exist either.
     * @param eventsOf the events of the added tags
     */
    addMissing: async (
      tags: readonly Tag[],
      eventsOf: (added: readonly Tag[]) => readonly DomainEvent[],
    ): Promise<AddedTags> => {
      if (tags.length === 0) return { added: [], unknownTypes: [] };
      try {
        const result = onlyRow(await tx.query<AddedTags>(addMissing, [JSON.stringify(tags)]), 'that adds tags');
        recordEvents(eventsOf(result.added));
        return result;
      } catch (error) {
        if (violatedConstraint(error) !== 'tag_type_fkey') throw error;
        throw new SerializationFailure('A tag type was deleted concurrently.', { cause: error });
      }
    },

    /** Adds the tag types that do not exist. */
    addMissingTypes: async (types: readonly StoredTagType[], events: readonly DomainEvent[]): Promise<void> => {
      const rows = types.map((type) => sql.rowOf(TagTypeEntity, type));
      if (rows.length > 0) await tx.query(addMissingTypes, [JSON.stringify(rows)]);
      recordEvents(events);
    },

    /** Returns false if the tag does not exist. */
    removeTag: async ({ type, value }: Tag, events: readonly DomainEvent[]): Promise<boolean> => {
      const isRemoved = (await tx.em.nativeDelete(TagEntity, { type, value })) > 0;
      if (isRemoved) recordEvents(events);
      return isRemoved;
    },

    /** The first names of the features with the tag, or with any tag of the type, at most `limit`, sorted. */
    featureNames: async (type: string, value: string | null, limit: number): Promise<string[]> => {
      const rows = await tx.query<{ name: string }>(featuresWithTag, [tagFilter(type, value), limit]);
      return rows.map((row) => row.name);
    },

    /** @throws SerializationFailure when a feature was tagged concurrently. */
    requireNoneTagged: async (type: string, value: string | null): Promise<void> => {
      const rows = await tx.query(featuresWithTag, [tagFilter(type, value), 1]);
      if (rows.length > 0) throw new SerializationFailure('A feature was given a tag while the tag was being deleted.');
    },

    findTypeForUpdate: async (name: string): Promise<StoredTagType | undefined> =>
      (await tx.query<StoredTagType>(findTypeForUpdate, [name]))[0],

    /** Returns false if the name is taken. */
    addType: async (type: StoredTagType, events: readonly DomainEvent[]): Promise<boolean> => {
      const isAdded = await insertIfAbsent(tx, TagTypeEntity, type);
      if (isAdded) recordEvents(events);
      return isAdded;
    },

    /** Stores a locked tag type, unless it is the same object as before. */
    saveType: async (before: StoredTagType, after: StoredTagType, events: readonly DomainEvent[]): Promise<void> => {
      const { name, ...type } = after;
      if (after !== before) await tx.em.nativeUpdate(TagTypeEntity, { name }, type);
      recordEvents(events);
    },

    /** Removes a tag type and its tags. */
    removeType: async (name: string, events: readonly DomainEvent[]): Promise<void> => {
      await tx.em.nativeDelete(TagTypeEntity, { name });
      recordEvents(events);
    },
  };
}
