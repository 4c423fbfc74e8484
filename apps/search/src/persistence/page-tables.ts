import type { SchemaStep } from '@bunting/database';

/**
 * The documents of a page in its order, as the members of a JSON array. It is a function for its plan alone, which a session
 * makes once: what finds a page is planned for what is looked for, and to plan this with it each time took longer than to do it.
 * Each document is looked up by its name, whatever PostgreSQL believes of how many there are when it plans.
 */
export const pageTables: SchemaStep = {
  name: '2026-11-24-search-pages',
  statements: [
    `create function features_of_page(names text[], backwards boolean, me integer[]) returns text stable language plpgsql as $$
    begin
      return (
        select coalesce(string_agg(found.document, ',' order by case when backwards then -nth else nth end), '')
        from unnest(names) with ordinality as named (name, nth) cross join lateral (
          select '{"favorite":' || (lookup.favorited_by @> me)::text || ',"segments":' ||
            case when lookup.segment_ids = '{}' then '[]' else (
              select coalesce(json_agg(segment.name order by segment.name), '[]')::text from segment
              where segment.id = any(lookup.segment_ids) and segment.name is not null) end ||
            ',' || right(stored.document::text, -1) as document
          from feature_lookup lookup join feature_document stored on stored.name = lookup.name
          where lookup.name = named.name
          limit 1
        ) as found);
    end $$`,
  ],
};
