/**
 * SQL: a JSON object without the members that are SQL `null`. Unleash omits such members, and generated clients distinguish an absent
 * member from a `null` one. Members are written `'name': expression`.
 */
export const withoutNulls = (...members: readonly string[]): string =>
  `json_object(${members.join(', ')} absent on null returning json)`;

/** SQL: a value that stays in the result of `withoutNulls` as JSON `null` if it is SQL `null`. */
export const orNull = (value: string): string => `coalesce(to_json(${value}), 'null')`;

/** SQL: the rows of a query of one JSON column, as a JSON list. */
export const jsonListOf = (select: string): string =>
  `(select coalesce(json_agg(item), '[]') from (${select}) as items (item))`;

/** SQL: a JSON array of variants, sorted by name. */
export const variantsSortedByName = (variants: string): string =>
  `coalesce((select json_agg(variant order by variant ->> 'name') from jsonb_array_elements(${variants}) as variant), '[]')`;
