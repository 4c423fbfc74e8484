import { type CountEnvironmentTokens, projectNotFound, type ReplyOf } from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import { advisoryLock, onlyRow, prepared, type ReadDatabase, type Tx, violatedConstraint } from '@bunting/database';
import { persistDifference } from '@bunting/database/entities';
import type { Outbox, RecordEvents } from '@bunting/outbox';
import type { DomainEvent } from '../features/feature.ts';
import { environmentNameTaken, environmentNotFound } from '../refusals.ts';
import {
  emitEnvironmentDelivery,
  emitEnvironmentRemovalDelivery,
  emitProjectEnvironmentDelivery,
} from '../unit-of-work/delivery.ts';
import { EnvironmentEntity, sql } from '../unit-of-work/entities.ts';
import type { BeforeAndAfter, JsonWithEntityTag } from '../unit-of-work/if-match.ts';
import { readJson, withoutNulls } from '../unit-of-work/sql.ts';
import { environmentContent, type ExistingEnvironments, type StoredEnvironment } from './environment.ts';

/**
 * SQL: the table `enabled` of the environments in which active features are enabled, and their numbers. All features are read once, not once
 * for each environment.
 * @param projectCondition a condition on `f.project`
 */
function enabledFeatureCounts(projectCondition: string): string {
  return `
  enabled as materialized (
    select setting.key as environment, count(*) as features
    from feature f cross join jsonb_each(f.environments) as setting
    where ${projectCondition} and f.archived_at is null and (setting.value -> 'enabled')::boolean
    group by 1)`;
}
const enabledFeatureCount = 'coalesce((select features from enabled where enabled.environment = e.name), 0)';

type Tokens = ReplyOf<typeof CountEnvironmentTokens>['environments'];

/** SQL: the number of tokens for the environment `e`, from a parameter with `Tokens` as JSON. */
function tokenCount(parameter: string): string {
  return `coalesce((
  select tokens from json_to_recordset(${parameter}::json) as counted (name text, tokens integer)
  where counted.name = e.name), 0)`;
}

const commonMembers = `'name': e.name, 'type': e.type, 'sortOrder': e.sort_order, 'enabled': e.enabled, 'protected': e.protected,
  'requiredApprovals': e.required_approvals, 'color': e.color`;

/** SQL: the projects to which environments are connected, without those of the parameter `hidden`. */
function connectionsToProjects(hidden: string): string {
  return `project_environment connection join project p on p.id = connection.project
      where p.archived_at is null and p.id <> all (${hidden}::text[])`;
}

function environmentJson(tokens: string, projects: string, enabledCount: string): string {
  return withoutNulls(
    commonMembers,
    `'apiTokenCount': ${tokenCount(tokens)}`,
    `'projectCount': ${projects}`,
    `'enabledToggleCount': ${enabledCount}`,
  );
}

const all = prepared(`
  with ${enabledFeatureCounts('f.project <> all ($1::text[])')},
  -- Counted together: else there is an index lookup for each pair of a project and an environment.
  connected as materialized (
    select environment, count(*) as projects from ${connectionsToProjects('$1')} group by 1)
  select json_build_object('version', 1, 'environments', coalesce(json_agg(${environmentJson(
    '$2',
    'coalesce((select projects from connected where connected.environment = e.name), 0)',
    enabledFeatureCount,
  )}
    order by e.sort_order, e.name), '[]'))::text as json from environment e`);
const one = prepared(`
  select ${environmentJson(
    '$3',
    `(select count(*) from ${connectionsToProjects('$2')} and connection.environment = e.name)`,
    `(select count(*) from feature f
      where f.project <> all ($2::text[]) and f.archived_at is null and (f.environments -> e.name -> 'enabled')::boolean)`,
  )}::text as json, ${sql.jsonOf(EnvironmentEntity, 'e')} as stored
  from environment e where e.name = $1`);
const ofProject = prepared(`
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
  from project p where p.id = $1 and p.archived_at is null`);

const names = prepared('select name from environment order by sort_order, name');
const exists = prepared('select from environment where name = $1');

/** Reads environments outside of transactions, as JSON. */
export function environmentReader(database: ReadDatabase) {
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
      return { json: row.json, tag: contentTag(environmentContent(row.stored)) };
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
}

const findForUpdate = `
  select ${sql.jsonOf(EnvironmentEntity, 'e')} as environment from environment e where name = any ($1::text[])
  order by name for update`;

/**
 * `$1` source and `$2` target environment; `$3` ids of projects, or null for all that have the source. One statement for any number of
 * projects, which is why it is not left to the entity manager.
 */
const connectProjects = `
  with locked as (
    select id from project
    where archived_at is null and case when $3::text[] is null
      then id in (select project from project_environment where environment = $1) else id = any ($3::text[]) end
    order by id for update
  )
  insert into project_environment (project, environment, default_strategy)
  select locked.id, $2, connection.default_strategy
  from locked left join project_environment connection on connection.project = locked.id and connection.environment = $1
  order by locked.id returning project`;

const projectsForUpdate = `
  select id from project where id in (select project from project_environment where environment = $1) order by id for update`;

const lockConnections = `
  select project from project_environment where project = any ($1::text[]) and environment = $2 order by project for key share`;

const featureNames = `
  select f.name from feature f
  where f.project in (select project from project_environment where environment = any ($1::text[])) order by f.name`;

export function environmentRepository(tx: Tx, outbox: Outbox, recordEvents: RecordEvents) {
  const { query } = tx;
  const locked = new Map<string, BeforeAndAfter<StoredEnvironment>>();
  const updateLocked = (name: string, after: StoredEnvironment | undefined): void => {
    const environment = locked.get(name);
    if (environment !== undefined) environment.after = after;
  };
  return {
    /** The environments that `findForUpdate` locked, by name. */
    locked,

    /** The number of environments and the highest sort order; no other transaction that counts can add one before this one ends. */
    lockAndCount: async (): Promise<ExistingEnvironments> => {
      await advisoryLock({ query }, 'environments');
      const text = 'select count(*) as count, coalesce(max(sort_order), 0) as "highestSortOrder" from environment';
      return onlyRow(await query<ExistingEnvironments>(text), text);
    },

    /** The environments with these names that exist, locked in the order of their names. */
    findForUpdate: async (names: readonly string[]): Promise<StoredEnvironment[]> => {
      const rows = await query<{ environment: StoredEnvironment }>(findForUpdate, [names]);
      return rows.map(({ environment }) => {
        locked.set(environment.name, { before: environment, after: environment });
        return environment;
      });
    },

    /** Locks an environment, so that it is not deleted concurrently; false if it does not exist. */
    lockShared: async (name: string): Promise<boolean> =>
      (await query('select from environment where name = $1 for key share', [name])).length > 0,

    /** @throws Refusal `NameExistsError`. */
    add: async (environment: StoredEnvironment, events: readonly DomainEvent[]): Promise<void> => {
      try {
        await tx.em.insert(EnvironmentEntity, environment);
      } catch (error) {
        if (violatedConstraint(error) !== 'environment_pkey') throw error;
        throw environmentNameTaken(environment.name);
      }
      emitEnvironmentDelivery(outbox, environment);
      recordEvents(events);
    },

    /** Stores environments that `findForUpdate` locked. */
    save: async (environments: readonly StoredEnvironment[], events: readonly DomainEvent[]): Promise<void> => {
      const before = environments.map(({ name }) => {
        const stored = locked.get(name)?.after;
        if (stored === undefined) throw new Error(`The environment ${name} is saved without a lock on it.`);
        return stored;
      });
      persistDifference(tx.em, EnvironmentEntity, { before, after: environments }, (environment) => environment);
      await tx.em.flush();
      for (const environment of environments) {
        updateLocked(environment.name, environment);
        emitEnvironmentDelivery(outbox, environment);
      }
      recordEvents(events);
    },

    /** Removes an environment that no project uses. The gateway ends its tokens and the permissions in it when it receives the state. */
    remove: async (name: string, events: readonly DomainEvent[]): Promise<void> => {
      await tx.em.nativeDelete(EnvironmentEntity, { name });
      updateLocked(name, undefined);
      emitEnvironmentRemovalDelivery(outbox, name);
      // An environment has no other state, so that no version is to be told from another.
      outbox.emitState({ entity: 'environment', id: name, version: 0, state: null });
      recordEvents(events);
    },

    /**
     * Connects projects to the environment `to`, each with the default strategy that it has in `from`. Returns their ids, sorted.
     * @param projects the ids of projects, of which those that are archived are left out; null for all projects with `from`
     * @param eventsOf the events of the connected projects
     */
    connectProjects: async (
      from: string,
      to: string,
      projects: readonly string[] | null,
      eventsOf: (connected: readonly string[]) => readonly DomainEvent[],
    ): Promise<string[]> => {
      const rows = await query<{ project: string }>(connectProjects, [from, to, projects]);
      for (const { project } of rows) emitProjectEnvironmentDelivery(outbox, project, to);
      const connected = rows.map(({ project }) => project).sort();
      recordEvents(eventsOf(connected));
      return connected;
    },

    /** Those of the projects that have the environment, sorted, which they keep until the transaction ends. */
    lockConnections: async (projects: readonly string[], environment: string): Promise<string[]> =>
      (await query<{ project: string }>(lockConnections, [projects, environment])).map(({ project }) => project),

    /** The ids of the projects that have the environment, sorted and locked. */
    lockProjects: async (name: string): Promise<string[]> =>
      (await query<{ id: string }>(projectsForUpdate, [name])).map(({ id }) => id),

    /** The names of the features in projects that use any of the environments, sorted. */
    featureNames: async (names: readonly string[]): Promise<string[]> =>
      (await query<{ name: string }>(featureNames, [names])).map(({ name }) => name),
  };
}
