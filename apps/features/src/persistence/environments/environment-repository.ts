import { type CountTokens, notFound, refusal, type ReplyOf } from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import { brokenConstraint, type Database, type Statement, type Tx } from '@bunting/database';
import type { StoredEnvironment } from '../../domain/environment.ts';
import { named } from '../../domain/refusals.ts';
import { EnvironmentEntity, sql } from '../entities.ts';
import { withoutNulls } from '../json-sql.ts';
import type { Seen, TaggedJson } from '../entity-tags.ts';

/** Environments within a unit of work. */
export const environmentRepository = ({ query }: Tx) => {
  const seen = new Map<string, Seen<StoredEnvironment>>();
  const stored = (name: string, after: StoredEnvironment | undefined): void => {
    const one = seen.get(name);
    if (one !== undefined) one.after = after;
  };
  return {
    /** What was locked, by name. */
    seen,

    /** How many there are, and the last place; nobody else adds one until the end of this work. */
    lockAndCount: async (): Promise<{ readonly count: number; readonly latest: number }> => {
      await query("select pg_advisory_xact_lock(hashtext('environments'))");
      const text = 'select count(*) as count, coalesce(max(sort_order), 0) as latest from environment';
      return (await query<{ count: number; latest: number }>(text))[0] ?? { count: 0, latest: 0 };
    },

    /** Those of the names that there are, locked in their order. */
    findForUpdate: async (names: readonly string[]): Promise<StoredEnvironment[]> => {
      const text = `
      select ${sql.jsonOf(EnvironmentEntity, 'e')} as environment from environment e where name = any ($1::text[])
      order by name for update`;
      const found = await query<{ environment: StoredEnvironment }>(text, [names]);
      return found.map(({ environment }) => {
        seen.set(environment.name, { before: environment, after: environment });
        return environment;
      });
    },

    add: async ({ name, type, sortOrder, enabled, requiredApprovals }: StoredEnvironment): Promise<void> => {
      const text = `
      insert into environment (name, type, sort_order, enabled, required_approvals) values ($1, $2, $3, $4, $5)`;
      try {
        await query(text, [name, type, sortOrder, enabled, requiredApprovals]);
      } catch (error) {
        if (brokenConstraint(error) !== 'environment_pkey') throw error;
        throw refusal('NameExistsError', `An environment with the name ${name} already exists`);
      }
    },

    save: async (environments: readonly StoredEnvironment[]): Promise<void> => {
      if (environments.length === 0) return;
      const text = `
      update environment set type = given.type, sort_order = given."sortOrder", enabled = given.enabled,
        required_approvals = given."requiredApprovals"
      from json_to_recordset($1::json) as given (name text, type text, "sortOrder" integer, enabled boolean,
        "requiredApprovals" integer)
      where environment.name = given.name`;
      await query(text, [JSON.stringify(environments)]);
      for (const environment of environments) stored(environment.name, environment);
    },

    /** Removes one that no project uses. */
    remove: async (name: string): Promise<void> => {
      await query('delete from environment where name = $1', [name]);
      stored(name, undefined);
    },

    /**
     * Connects projects to an environment, each with the default strategy that it has in another one. Gives their ids, in their order.
     * @param projects those that are not archived among these; null: every one that has the other environment
     */
    connectProjects: async (from: string, to: string, projects: readonly string[] | null): Promise<string[]> => {
      const text = `
      with held as (
        select id from project
        where archived_at is null and case when $3::text[] is null
          then id in (select project from project_environment where environment = $1) else id = any ($3::text[]) end
        order by id for update
      )
      insert into project_environment (project, environment, default_strategy)
      select held.id, $2, connected.default_strategy
      from held left join project_environment connected on connected.project = held.id and connected.environment = $1
      order by held.id returning project`;
      return (await query<{ project: string }>(text, [from, to, projects])).map(({ project }) => project).sort();
    },

    /** The ids of some projects that use it. */
    projectIds: async (name: string): Promise<string[]> => {
      const text = 'select project from project_environment where environment = $1 order by project limit 11';
      return (await query<{ project: string }>(text, [name])).map(({ project }) => project);
    },

    /** The names of the features in projects that use any of them. */
    featureNames: async (names: readonly string[]): Promise<string[]> => {
      const text = `
      select f.name from feature f
      where f.project in (select project from project_environment where environment = any ($1::text[])) order by f.name`;
      return (await query<{ name: string }>(text, [names])).map(({ name }) => name);
    },
  };
};
export type EnvironmentRepository = ReturnType<typeof environmentRepository>;

/** SQL: in how many features of the project, or of all, the environment `e` is on. */
const enabledIn = (project: string): string => `(
  select count(*) from feature f
  where ${project} and f.archived_at is null and (f.environments -> e.name -> 'enabled')::boolean)`;

type Tokens = ReplyOf<typeof CountTokens>['environments'];

/** SQL: how many tokens there are for the environment `e`, as a parameter with `Tokens` as JSON says. */
const tokensOf = (parameter: string): string => `coalesce((
  select tokens from json_to_recordset(${parameter}::json) as counted (name text, tokens integer)
  where counted.name = e.name), 0)`;

const answered = `'name': e.name, 'type': e.type, 'sortOrder': e.sort_order, 'enabled': e.enabled, 'protected': e.protected,
  'requiredApprovals': e.required_approvals`;

const described = (hidden: string, tokens: string): string =>
  withoutNulls(
    answered,
    `'apiTokenCount': ${tokensOf(tokens)}`,
    `'projectCount': (
      select count(*) from project_environment connected join project p on p.id = connected.project
      where connected.environment = e.name and p.archived_at is null and p.id <> all (${hidden}::text[]))`,
    `'enabledToggleCount': ${enabledIn(`f.project <> all (${hidden}::text[])`)}`,
  );

const all: Statement = {
  name: 'environments',
  text: `
    select json_build_object('version', 1, 'environments', coalesce(json_agg(${described('$1', '$2')}
      order by e.sort_order, e.name), '[]'))::text as json from environment e`,
};
const one: Statement = {
  name: 'environment',
  text: `select ${described('$2', '$3')}::text as json, ${sql.jsonOf(EnvironmentEntity, 'e')} as own from environment e where e.name = $1`,
};
const ofProject: Statement = {
  name: 'environments-for-project',
  text: `
    select json_build_object('version', 1, 'environments', coalesce((
      select json_agg(${withoutNulls(
        answered,
        `'projectApiTokenCount': ${tokensOf('$2')}`,
        `'projectEnabledToggleCount': ${enabledIn('f.project = p.id')}`,
        `'defaultStrategy': connected.default_strategy`,
        `'visible': connected.project is not null`,
      )}
        order by e.sort_order, e.name)
      from environment e
      left join project_environment connected on connected.environment = e.name and connected.project = p.id), '[]'))::text as json
    from project p where p.id = $1 and p.archived_at is null`,
};

const exists: Statement = { name: 'environment-name', text: 'select from environment where name = $1' };

/** Environments as they are now, as JSON, for who only looks. */
export const environmentReader = (database: Database) => {
  const read = async (statement: Statement, values: readonly unknown[]): Promise<string | undefined> =>
    (await database.read<{ json: string }>(statement, values))[0]?.json;
  return {
    all: async (hidden: readonly string[], tokens: Tokens): Promise<string> =>
      (await read(all, [hidden, JSON.stringify(tokens)])) ?? '',
    one: async (name: string, hidden: readonly string[], tokens: Tokens): Promise<TaggedJson> => {
      const [row] = await database.read<{ json: string; own: StoredEnvironment }>(one, [
        ...[name, hidden, JSON.stringify(tokens)],
      ]);
      if (row === undefined) throw notFound(`Could not find environment with name: ${named(name)}`);
      return { json: row.json, tag: contentTag(row.own) };
    },
    /** @param tokens those that give the project */
    ofProject: async (project: string, tokens: Tokens): Promise<string> => {
      const json = await read(ofProject, [project, JSON.stringify(tokens)]);
      if (json === undefined) throw notFound(`Could not find project with id ${named(project)}`);
      return json;
    },
    isTaken: async (name: string): Promise<boolean> => (await database.read(exists, [name])).length > 0,
  };
};
export type EnvironmentReader = ReturnType<typeof environmentReader>;
