import { type CountEnvironmentTokens, projectNotFound, type ReplyOf } from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import type { ReadDatabase, Statement } from '@bunting/database';
import type { StoredEnvironment } from './environment.ts';
import { environmentNotFound } from '../refusals.ts';
import { EnvironmentEntity, sql } from '../unit-of-work/entities.ts';
import type { JsonWithEntityTag } from '../unit-of-work/if-match.ts';
import { withoutNulls } from '../unit-of-work/json-sql.ts';
import { readJson } from '../unit-of-work/read-json.ts';

/**
 * SQL: the table `enabled` of the environments in which active features are enabled, and their numbers. All features are read once, not once
 * for each environment.
 * @param projectCondition a condition on `f.project`
 */
const enabledFeatureCounts = (projectCondition: string): string => `
  enabled as materialized (
    select setting.key as environment, count(*) as features
    from feature f cross join jsonb_each(f.environments) as setting
    where ${projectCondition} and f.archived_at is null and (setting.value -> 'enabled')::boolean
    group by 1)`;
const enabledFeatureCount = 'coalesce((select features from enabled where enabled.environment = e.name), 0)';

type Tokens = ReplyOf<typeof CountEnvironmentTokens>['environments'];

/** SQL: the number of tokens for the environment `e`, from a parameter with `Tokens` as JSON. */
const tokenCount = (parameter: string): string => `coalesce((
  select tokens from json_to_recordset(${parameter}::json) as counted (name text, tokens integer)
  where counted.name = e.name), 0)`;

const commonMembers = `'name': e.name, 'type': e.type, 'sortOrder': e.sort_order, 'enabled': e.enabled, 'protected': e.protected,
  'requiredApprovals': e.required_approvals`;

const environmentJson = (hidden: string, tokens: string, enabledCount: string): string =>
  withoutNulls(
    commonMembers,
    `'apiTokenCount': ${tokenCount(tokens)}`,
    `'projectCount': (
      select count(*) from project_environment connection join project p on p.id = connection.project
      where connection.environment = e.name and p.archived_at is null and p.id <> all (${hidden}::text[]))`,
    `'enabledToggleCount': ${enabledCount}`,
  );

const all: Statement = {
  name: 'environments',
  text: `
    with ${enabledFeatureCounts('f.project <> all ($1::text[])')}
    select json_build_object('version', 1, 'environments', coalesce(json_agg(${environmentJson('$1', '$2', enabledFeatureCount)}
      order by e.sort_order, e.name), '[]'))::text as json from environment e`,
};
const one: Statement = {
  name: 'environment',
  text: `
    select ${environmentJson(
      '$2',
      '$3',
      `(select count(*) from feature f
        where f.project <> all ($2::text[]) and f.archived_at is null and (f.environments -> e.name -> 'enabled')::boolean)`,
    )}::text as json, ${sql.jsonOf(EnvironmentEntity, 'e')} as stored
    from environment e where e.name = $1`,
};
const ofProject: Statement = {
  name: 'environments-for-project',
  text: `
    with ${enabledFeatureCounts('f.project = $1')}
    select json_build_object('version', 1, 'environments', coalesce((
      select json_agg(${withoutNulls(
        commonMembers,
        `'projectApiTokenCount': ${tokenCount('$2')}`,
        `'projectEnabledToggleCount': ${enabledFeatureCount}`,
        `'defaultStrategy': connection.default_strategy`,
        `'visible': connection.project is not null`,
      )}
        order by e.sort_order, e.name)
      from environment e
      left join project_environment connection on connection.environment = e.name and connection.project = p.id), '[]'))::text as json
    from project p where p.id = $1 and p.archived_at is null`,
};

const names: Statement = { name: 'environment-names', text: 'select name from environment order by sort_order, name' };
const exists: Statement = { name: 'environment-name', text: 'select from environment where name = $1' };

/** Reads environments outside of transactions, as JSON. */
export const environmentReader = (database: ReadDatabase) => {
  return {
    all: (hidden: readonly string[], tokens: Tokens): Promise<string> =>
      readJson(database, all, [hidden, JSON.stringify(tokens)]),
    one: async (name: string, hidden: readonly string[], tokens: Tokens): Promise<JsonWithEntityTag> => {
      const [row] = await database.read<{ json: string; stored: StoredEnvironment }>(one, [
        name,
        hidden,
        JSON.stringify(tokens),
      ]);
      if (row === undefined) throw environmentNotFound(name);
      return { json: row.json, tag: contentTag(row.stored) };
    },
    /** @param tokens the numbers of tokens with access to the project */
    ofProject: async (project: string, tokens: Tokens): Promise<string> => {
      const [row] = await database.read<{ json: string }>(ofProject, [project, JSON.stringify(tokens)]);
      if (row === undefined) throw projectNotFound(project);
      return row.json;
    },
    names: async (): Promise<string[]> => (await database.read<{ name: string }>(names)).map(({ name }) => name),
    isTaken: async (name: string): Promise<boolean> => (await database.read(exists, [name])).length > 0,
  };
};
