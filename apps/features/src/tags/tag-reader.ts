import type { PageParameters, Tag } from '@bunting/contracts';
import type { ReadDatabase, Statement } from '@bunting/database';
import { tagNotFound, tagTypeNotFound } from '../refusals.ts';
import { orNull, withoutNulls } from '../unit-of-work/json-sql.ts';
import { readJson } from '../unit-of-work/read-json.ts';

const tagType = withoutNulls(
  `'name': name, 'description': ${orNull('description')}, 'icon': ${orNull('icon')}, 'color': color`,
);

/** SQL: whether all features with the tag are in the given projects. Reads no features if the list is empty. */
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

/** Reads tags and tag types outside of transactions, as JSON. */
export const tagReader = (database: ReadDatabase) => {
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
};
