import { advisoryLock, onlyRow, persistDifference, type Tx, violatedConstraint } from '@bunting/database';
import type { Outbox } from '@bunting/outbox';
import {
  emitEnvironmentDelivery,
  emitEnvironmentRemovalDelivery,
  emitProjectEnvironmentDelivery,
} from '../unit-of-work/emit-delivery.ts';
import type { ExistingEnvironments, StoredEnvironment } from './environment.ts';
import type { DomainEvent } from '../features/feature.ts';
import { environmentNameTaken } from '../refusals.ts';
import { EnvironmentEntity, sql } from '../unit-of-work/entities.ts';
import type { BeforeAndAfter } from '../unit-of-work/if-match.ts';
import type { RecordEvents } from '../unit-of-work/record-events.ts';

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

const featureNames = `
  select f.name from feature f
  where f.project in (select project from project_environment where environment = any ($1::text[])) order by f.name`;

/** Environments within a transaction. */
export const environmentRepository = (tx: Tx, outbox: Outbox, recordEvents: RecordEvents) => {
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

    /** The ids of the projects that have the environment, sorted and locked. */
    lockProjects: async (name: string): Promise<string[]> =>
      (await query<{ id: string }>(projectsForUpdate, [name])).map(({ id }) => id),

    /** The names of the features in projects that use any of the environments, sorted. */
    featureNames: async (names: readonly string[]): Promise<string[]> =>
      (await query<{ name: string }>(featureNames, [names])).map(({ name }) => name),
  };
};
