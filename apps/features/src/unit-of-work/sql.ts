import type { CountProjectMembers, ReplyOf } from '@bunting/contracts';
import { onlyRow, type ReadDatabase, type Statement, type Tx } from '@bunting/database';
import type { EntityName, RequiredEntityData } from '@mikro-orm/postgresql';

/** Reads the JSON of a statement that always returns one row. */
export async function readJson(
  database: ReadDatabase,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<string> {
  return onlyRow(await database.read<{ json: string }>(statement, values), statement).json;
}

/**
 * SQL: a JSON object without the members that are SQL `null`. Unleash omits such members, and generated clients distinguish an absent
 * member from a `null` one. Members are written `'name': expression`.
 */
export function withoutNulls(...members: readonly string[]): string {
  return `json_object(${members.join(', ')} absent on null returning json)`;
}

/** SQL: a value that stays in the result of `withoutNulls` as JSON `null` if it is SQL `null`. */
export function orNull(value: string): string {
  return `coalesce(to_json(${value}), 'null')`;
}

/** SQL: the rows of a query of one JSON column, as a JSON list. */
export function jsonListOf(select: string): string {
  return `(select coalesce(json_agg(item), '[]') from (${select}) as items (item))`;
}

/** SQL: a JSON array of variants, sorted by name. */
export function variantsSortedByName(variants: string): string {
  return `coalesce((select json_agg(variant order by variant ->> 'name') from jsonb_array_elements(${variants}) as variant), '[]')`;
}

/** Inserts a row in one statement; returns false, and inserts nothing, if its key is taken. */
export async function insertIfAbsent<T extends object>(
  { em }: Tx,
  entity: EntityName<T>,
  row: RequiredEntityData<T>,
): Promise<boolean> {
  const { affectedRows } = await em.qb(entity).insert(row).onConflict().ignore().execute('run');
  return affectedRows > 0;
}

/**
 * SQL: the default strategies that contain a value at a JSON path: in `name` the words for the strategy in error messages, such as `the
 * default strategy of production in project shop`, in `project` the id of its project. Features that are enabled get these strategies, so
 * the objects to which they refer must exist.
 */
function defaultStrategiesWith(path: string, value: string): string {
  return `
  select 'the default strategy of ' || environment || ' in project ' || project as name, project from project_environment
  where jsonb_path_exists(default_strategy, '${path} ? (@ == $value)', jsonb_build_object('value', ${value}))`;
}

/** SQL: the default strategies that use a segment. */
export function defaultStrategiesWithSegment(id: string): string {
  return defaultStrategiesWith('$.segments[*]', id);
}

/** SQL: the default strategies with a constraint on a context field. */
export function defaultStrategiesWithField(name: string): string {
  return defaultStrategiesWith('$.constraints[*].contextName', name);
}

/** How many members a project has and who owns it, from the gateway. */
export type ProjectMembers = ReplyOf<typeof CountProjectMembers>['projects'][number];

/** SQL: joins a parameter with `ProjectMembers` as JSON to the project `p`, as `membership`. */
export function joinMembers(parameter: string): string {
  return `left join json_to_recordset(${parameter}::json) as membership (id text, members integer, added integer, owners json) on membership.id = p.id`;
}

/** SQL: the number of members; needs `joinMembers`. */
export const memberCountSql = 'coalesce(membership.members, 0)';

/** SQL: the owners, or the system for a project without any; needs `joinMembers`. */
export const ownersSql = `case when json_array_length(membership.owners) > 0 then membership.owners else '[{"ownerType": "system"}]' end`;
