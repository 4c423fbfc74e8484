import { notFound, type Page, type Tag, type TagTypeDescription } from '@bunting/contracts';
import type { Database, Statement, Tx } from '@bunting/database';
import { named } from '../../domain/refusals.ts';
import { sql, TagEntity, TagTypeEntity } from '../entities.ts';
import { insertIfAbsent } from '../insert-if-absent.ts';
import { orNull, withoutNulls } from '../json-sql.ts';
import { OvertakenError } from '../features/feature-references.ts';

/** A type of tags as it is stored. */
export type StoredTagType = Required<TagTypeDescription>;

const tagType = withoutNulls(
  `'name': name, 'description': ${orNull('description')}, 'icon': ${orNull('icon')}, 'color': color`,
);

const tagged = 'select name from feature where tags @> $1::jsonb order by name';
const wanted = (type: string, value?: string): string =>
  JSON.stringify([value === undefined ? { type } : { type, value }]);

const findTypeForUpdate = `
  select ${sql.selectOf(TagTypeEntity, 'tag_type')} from tag_type where name = $1 for update`;

/** Tags and their types within a unit of work. */
export const tagCatalogue = (tx: Tx) => ({
  /** False when there is no such tag. */
  removeTag: async ({ type, value }: Tag): Promise<boolean> =>
    (await tx.em.nativeDelete(TagEntity, { type, value })) > 0,

  /** The names of the features that have a tag of the type, or that very tag, in their order. */
  namesOfTagged: async (type: string, value?: string): Promise<string[]> => {
    const rows = await tx.query<{ name: string }>(tagged, [wanted(type, value)]);
    return rows.map((row) => row.name);
  },

  /** @throws OvertakenError when a feature has got such a tag since they were looked for. */
  requireNoneTagged: async (type: string, value?: string): Promise<void> => {
    const rows = await tx.query(`${tagged} limit 1`, [wanted(type, value)]);
    if (rows.length > 0) throw new OvertakenError('A feature has got the tag meanwhile.');
  },

  findTypeForUpdate: async (name: string): Promise<StoredTagType | undefined> =>
    (await tx.query<StoredTagType>(findTypeForUpdate, [name]))[0],

  /** False when there is one of that name already. */
  addType: (type: StoredTagType): Promise<boolean> => insertIfAbsent(tx, TagTypeEntity, type),

  saveType: async ({ name, ...type }: StoredTagType): Promise<void> => {
    await tx.em.nativeUpdate(TagTypeEntity, { name }, type);
  },

  /** Its tags go with it. */
  removeType: async (name: string): Promise<void> => {
    await tx.em.nativeDelete(TagTypeEntity, { name });
  },
});

/** SQL: the tag is in use, and only in projects of that list. Nothing is read where the list is empty. */
const onlyIn = (projects: string): string => `(type, value) in (
  select used.type, used.value
  from feature f, jsonb_to_recordset(f.tags) as used (type text, value text)
  where cardinality(${projects}::text[]) > 0
  group by 1, 2 having bool_and(f.project = any (${projects}::text[])))`;

const tags: Statement = {
  name: 'tags',
  text: `
    select json_build_object('version', 1, 'tags', coalesce(json_agg(json_build_object('type', type, 'value', value)
      order by type, value), '[]'))::text as json
    from (
      select type, value from tag where ($1::text is null or type = $1) and not ${onlyIn('$2')}
      order by type, value limit $3::int offset $4::int) as page`,
};
const oneTag: Statement = {
  name: 'tag',
  text: `
    select json_build_object('version', 1, 'tag', json_build_object('type', type, 'value', value))::text as json
    from tag where type = $1 and value = $2 and not ${onlyIn('$3')}`,
};
const tagTypes: Statement = {
  name: 'tag-types',
  text: `
    select json_build_object('version', 1, 'tagTypes', coalesce(json_agg(${tagType}
      order by name), '[]'))::text as json
    from tag_type`,
};
const oneTagType: Statement = {
  name: 'tag-type',
  text: `
    select json_build_object('version', 1, 'tagType', ${tagType})::text as json
    from tag_type where name = $1`,
};

/** Tags and their types as they are now, as JSON, for queries. */
export const tagReader = (database: Database) => {
  const read = async (statement: Statement, values: readonly unknown[] = []): Promise<string | undefined> =>
    (await database.read<{ json: string }>(statement, values))[0]?.json;
  return {
    /** Those of a type, or of every type, without those that only hidden projects use. */
    all: async (type: string | null, hidden: readonly string[], { limit, offset = 0 }: Page): Promise<string> =>
      (await read(tags, [type, hidden, limit ?? null, offset])) ?? '',
    one: async ({ type, value }: Tag, hidden: readonly string[]): Promise<string> => {
      const json = await read(oneTag, [type, value, hidden]);
      if (json === undefined) throw notFound(`No tag with type: [${named(type)}] and value [${named(value)}]`);
      return json;
    },
    types: async (): Promise<string> => (await read(tagTypes)) ?? '',
    type: async (name: string): Promise<string> => {
      const json = await read(oneTagType, [name]);
      if (json === undefined) throw notFound('Could not find tag-type');
      return json;
    },
    isTypeTaken: async (name: string): Promise<boolean> => (await read(oneTagType, [name])) !== undefined,
  };
};
