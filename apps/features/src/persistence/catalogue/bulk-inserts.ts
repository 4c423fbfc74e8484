import type { Tag } from '@bunting/contracts';
import { brokenConstraint, type Tx } from '@bunting/database';
import { OvertakenError } from '../features/feature-references.ts';
import type { NewContextField, NewTagType } from '../../domain/import/index.ts';

const addTags = `
  with given as (
    select distinct type, value from json_to_recordset($1::json) as tag (type text, value text)
  ), added as (
    insert into tag (type, value)
    select given.type, given.value from given join tag_type on tag_type.name = given.type order by 1, 2
    on conflict do nothing returning type, value
  )
  select
    (select coalesce(json_agg(json_build_object('type', type, 'value', value) order by type, value), '[]') from added) as added,
    (select coalesce(json_agg(distinct type), '[]') from given where type not in (select name from tag_type)) as "unknownTypes"`;

const addTagTypes = `
  insert into tag_type (name, description, icon, color)
  select name, description, icon, color
  from json_to_recordset($1::json) as given (name text, description text, icon text, color text) order by name
  on conflict do nothing`;

const addContextFields = `
  insert into context_field (name, description, sort_order, stickiness, legal_values)
  select name, description, "sortOrder", stickiness, "legalValues"
  from json_to_recordset($1::json)
    as given (name text, description text, "sortOrder" integer, stickiness boolean, "legalValues" jsonb) order by name
  on conflict do nothing`;

/** What tags, types of tags and context fields there are, within a unit of work. What is there already stays as it is. */
export const catalogue = ({ query }: Tx) => {
  const add = async (statement: string, items: readonly unknown[]): Promise<void> => {
    if (items.length > 0) await query(statement, [JSON.stringify(items)]);
  };
  return {
    /** Adds tags; answers those that are new, and the types that there are not. */
    addTags: async (
      tags: readonly Tag[],
    ): Promise<{ readonly added: readonly Tag[]; readonly unknownTypes: readonly string[] }> => {
      if (tags.length === 0) return { added: [], unknownTypes: [] };
      try {
        const [result] = await query<{ added: Tag[]; unknownTypes: string[] }>(addTags, [JSON.stringify(tags)]);
        return result ?? { added: [], unknownTypes: [] };
      } catch (error) {
        if (brokenConstraint(error) !== 'tag_type_fkey') throw error;
        throw new OvertakenError('A type of tags is gone.', { cause: error });
      }
    },
    addTagTypes: (types: readonly NewTagType[]): Promise<void> => add(addTagTypes, types),
    addContextFields: (fields: readonly NewContextField[]): Promise<void> => add(addContextFields, fields),
  };
};
export type Catalogue = ReturnType<typeof catalogue>;
