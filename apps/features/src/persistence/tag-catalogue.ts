import { notFound, type Page, type Tag, type TagTypeDescription } from '@bunting/contracts';
import type { Database, Statement, Tx } from '@bunting/database';
import { named } from '../domain/refusals.ts';
import { orNull, withoutNulls } from './answered-json.ts';
import { OvertakenError } from './references.ts';

/** A type of tags as it is stored. */
export type StoredTagType = Required<TagTypeDescription>;

/** Tags and their types within a unit of work. */
export interface TagCatalogue {
  /** False when there is no such tag. */
  removeTag(tag: Tag): Promise<boolean>;
  /** The names of the features that have a tag of the type, or that very tag, in their order. */
  namesOfTagged(type: string, value?: string): Promise<string[]>;
  /** @throws OvertakenError when a feature has got such a tag since they were looked for. */
  requireNoneTagged(type: string, value?: string): Promise<void>;
  findTypeForUpdate(name: string): Promise<StoredTagType | undefined>;
  /** False when there is one of that name already. */
  addType(type: StoredTagType): Promise<boolean>;
  saveType(type: StoredTagType): Promise<void>;
  /** Its tags go with it. */
  removeType(name: string): Promise<void>;
}

const tagType = withoutNulls(
  `'name': name, 'description': ${orNull('description')}, 'icon': ${orNull('icon')}, 'color': color`,
);

const tagged = 'select name from feature where tags @> $1::jsonb order by name';
const wanted = (type: string, value?: string): string =>
  JSON.stringify([value === undefined ? { type } : { type, value }]);

export const tagCatalogue = ({ query }: Tx): TagCatalogue => ({
  removeTag: async ({ type, value }) =>
    (await query('delete from tag where type = $1 and value = $2 returning value', [type, value])).length > 0,

  namesOfTagged: async (type, value) => {
    const rows = await query<{ name: string }>(tagged, [wanted(type, value)]);
    return rows.map((row) => row.name);
  },

  requireNoneTagged: async (type, value) => {
    const rows = await query(`${tagged} limit 1`, [wanted(type, value)]);
    if (rows.length > 0) throw new OvertakenError('A feature has got the tag meanwhile.');
  },

  findTypeForUpdate: async (name) => {
    const text = 'select name, description, icon, color from tag_type where name = $1 for update';
    return (await query<StoredTagType>(text, [name]))[0];
  },

  addType: async ({ name, description, icon, color }) => {
    const text = `
      insert into tag_type (name, description, icon, color) values ($1, $2, $3, $4)
      on conflict do nothing returning name`;
    return (await query(text, [name, description, icon, color])).length > 0;
  },

  saveType: async ({ name, description, icon, color }) => {
    const text = 'update tag_type set description = $2, icon = $3, color = $4 where name = $1';
    await query(text, [name, description, icon, color]);
  },

  removeType: async (name) => {
    await query('delete from tag_type where name = $1', [name]);
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

/** Tags and their types as they are now, as JSON, for who only looks. */
export interface TagReader {
  /** Those of a type, or of every type, without those that only hidden projects use. */
  all(type: string | null, hidden: readonly string[], page: Page): Promise<string>;
  one(tag: Tag, hidden: readonly string[]): Promise<string>;
  types(): Promise<string>;
  type(name: string): Promise<string>;
  isTypeTaken(name: string): Promise<boolean>;
}

export const tagReader = (database: Database): TagReader => {
  const read = async (statement: Statement, values: readonly unknown[] = []): Promise<string | undefined> =>
    (await database.read<{ json: string }>(statement, values))[0]?.json;
  return {
    all: async (type, hidden, { limit = null, offset = 0 }) => (await read(tags, [type, hidden, limit, offset])) ?? '',
    one: async ({ type, value }, hidden) => {
      const json = await read(oneTag, [type, value, hidden]);
      if (json === undefined) throw notFound(`No tag with type: [${named(type)}] and value [${named(value)}]`);
      return json;
    },
    types: async () => (await read(tagTypes)) ?? '',
    type: async (name) => {
      const json = await read(oneTagType, [name]);
      if (json === undefined) throw notFound('Could not find tag-type');
      return json;
    },
    isTypeTaken: async (name) => (await read(oneTagType, [name])) !== undefined,
  };
};
