import {
  type Caller,
  type CreatedProject,
  type Environment,
  projectNotFound,
  type ProjectsQuery,
  type StrategyProperties,
} from '@bunting/contracts';
import { onlyRow, prepared, type ReadDatabase, timestampSql, type Tx, violatedConstraint } from '@bunting/database';
import type { Outbox, RecordEvents } from '@bunting/outbox';
import type { DomainEvent } from '../features/feature.ts';
import { healthSql, joinMetrics } from '../insights/insights-store.ts';
import type { FeatureNaming } from '../names.ts';
import { emitSegmentRemoval } from '../segments/segment-store.ts';
import type { StoredSegment } from '../segments/segment.ts';
import { emitProjectEnvironmentDelivery, emitProjectEnvironmentsRemovalDelivery } from '../unit-of-work/delivery.ts';
import {
  DeletedPrivateProjectEntity,
  ProjectEntity,
  ProjectEnvironmentEntity,
  ProjectFavoriteEntity,
  sql,
  storedSegmentJson,
} from '../unit-of-work/entities.ts';
import { lockReferencesOfDefaultStrategy } from '../unit-of-work/lock-references.ts';
import type { ProtectionGuard } from '../unit-of-work/protection.ts';
import { insertIfAbsent, memberCountSql, orNull, ownersSql, readJson, withoutNulls } from '../unit-of-work/sql.ts';
import { SerializationFailure } from '../unit-of-work/unit-of-work.ts';
import {
  activeFeaturesRefused,
  mayReuseIds,
  type NewProjectContext,
  projectIdTaken,
  type StoredProject,
} from './project.ts';

/** The facts that decide whether a feature with a name can be added to a project. */
export interface NewFeatureContext {
  /** whether the feature that has the name already, in any project, is active; null if there is none */
  readonly taken: 'active' | 'archived' | null;
  /** null for a project that does not exist or is archived */
  readonly project: { readonly naming: FeatureNaming | null; readonly featureLimit: number | null } | null;
}

/** A project that is locked until the end of the transaction, archived or not. */
export interface LockedProject {
  readonly project: StoredProject;
  readonly isArchived: boolean;
  readonly activeFeatures: number;
  /** the names of its environments */
  readonly environments: readonly string[];
}

const newProjectContext = `
  select exists (select from project where id = $1) as "isTaken",
    exists (select from deleted_private_project where id = $1) as "isReserved",
    (select coalesce(json_agg(json_build_object('name', name, 'type', type, 'sortOrder', sort_order, 'enabled', enabled)
      order by sort_order, name), '[]') from environment) as environments`;

/** `$1` project, `$2` name of the feature. */
const newFeatureContext = `
  select
    (select case when archived_at is null then 'active' else 'archived' end from feature where name = $2) as taken,
    (select json_build_object('naming', feature_naming, 'featureLimit', feature_limit)
     from project where id = $1 and archived_at is null) as project`;

const lockProject = 'select from project where id = $1 for update';
const lockProjectShared = 'select from project where id = $1 for share';
const lockProjectOfFeatureShared =
  'select from project where id = (select project from feature where name = $1) for share';
const lockInserts = 'select pg_advisory_xact_lock(hashtext($1), hashtext($2))';

const find = `
  select ${sql.jsonOf(ProjectEntity, 'p')} as project,
    p.archived_at is not null as "isArchived",
    (select count(*) from feature where project = p.id and archived_at is null) as "activeFeatures",
    array(select environment from project_environment where project = p.id) as environments
  from project p where p.id = $1`;

/** The version of a project's next state: higher than those of all earlier states, also of a deleted project with the same id. */
const nextVersion = `
  select nextval('project_version') as version, (select created_by from project where id = $1) as "createdBy"`;

const removeSegments = `
  delete from segment s where s.project = $1 returning s.version, ${storedSegmentJson('s')} as segment`;

const removeEnvironments = 'delete from project_environment where project = $1 returning environment';

const removeUsage = `
  delete from feature_seen seen using feature f
  where f.name = seen.feature and f.project = $1 and seen.environment = $2`;

interface ProjectRepositoryOptions {
  /** refuses edits that require a change request */
  readonly guard: ProtectionGuard;
  readonly recordEvents: RecordEvents;
}

export function projectRepository(tx: Tx, outbox: Outbox, { guard, recordEvents }: ProjectRepositoryOptions) {
  const { query } = tx;
  const one = async <Row>(text: string, values: readonly unknown[]): Promise<Row> =>
    onlyRow(await query<Row>(text, values), text);
  // Counts in a second statement, which sees what other transactions committed while this one waited for the lock.
  const lockAndCount = async (kind: string, scope: string, text: string, values: readonly unknown[] = []) => {
    await query(lockInserts, [kind, scope]);
    return (await one<{ count: number }>(text, values)).count;
  };
  /** Emits the state of a project and returns its version. */
  const emitState = async (id: string, mode: StoredProject['mode']): Promise<number> => {
    const { version, createdBy } = await one<{ version: number; createdBy: number | null }>(nextVersion, [id]);
    outbox.emitState({ entity: 'project', id, version, state: { id, mode, createdBy } });
    return version;
  };

  return {
    /** All environments by sort order; whether the id is taken, or reserved by a private project that was deleted. */
    newProjectContext: (id: string): Promise<NewProjectContext> => one(newProjectContext, [id]),
    newFeatureContext: (project: string, name: string): Promise<NewFeatureContext> =>
      one(newFeatureContext, [project, name]),

    /** Locks a project, or the project of a feature, against changes by other transactions. Must run before features are locked. */
    lockShared: async (target: { readonly project: string } | { readonly feature: string }): Promise<void> => {
      if ('project' in target) await query(lockProjectShared, [target.project]);
      else await query(lockProjectOfFeatureShared, [target.feature]);
    },
    /** Counts the projects; no other transaction that counts can add one before this one ends. */
    lockAndCount: (): Promise<number> => lockAndCount('projects', '', 'select count(*) from project'),
    /** Counts the active features of a project, or of all; no other transaction that counts can add one before this one ends. */
    lockAndCountFeatures: (project: string | undefined): Promise<number> => {
      const text = 'select count(*) from feature where archived_at is null';
      return project === undefined
        ? lockAndCount('features', '', text)
        : lockAndCount('features', project, `${text} and project = $1`, [project]);
    },

    /**
     * Adds a project and returns the version of its state.
     * @throws Refusal `NameExistsError` for an id that is taken, and for a reserved one unless the caller is an administrator.
     */
    add: async (
      { environments, ...project }: CreatedProject,
      caller: Caller,
      createdAt: string,
      events: readonly DomainEvent[],
    ): Promise<number> => {
      const { em } = tx;
      const { id, mode } = project;
      em.create(ProjectEntity, { ...project, createdBy: caller.id, createdAt });
      for (const environment of environments) em.create(ProjectEnvironmentEntity, { project: id, environment });
      try {
        await em.flush();
      } catch (error) {
        const constraint = violatedConstraint(error);
        // An environment was deleted concurrently; the retried transaction finds out which.
        if (constraint === 'project_environment_environment_fkey')
          throw new SerializationFailure('An environment of a new project was deleted concurrently.');
        if (constraint !== 'project_pkey') throw error;
        throw projectIdTaken();
      }
      // After the insert, which waits for concurrent writers of that id: this statement sees what they committed.
      const wasReserved = (await em.nativeDelete(DeletedPrivateProjectEntity, { id })) > 0;
      if (wasReserved && !mayReuseIds(caller)) throw projectIdTaken();
      for (const environment of environments) emitProjectEnvironmentDelivery(outbox, id, environment);
      recordEvents(events);
      return emitState(id, mode);
    },

    /** Locks a project against all other transactions that lock it. */
    findForUpdate: async (id: string): Promise<LockedProject | undefined> => {
      await query(lockProject, [id]);
      // A second statement: it sees what other transactions committed while this one waited for the lock.
      return (await query<LockedProject>(find, [id]))[0];
    },

    /** Stores a locked project and returns the version of its state. */
    save: async (
      { id, ...project }: StoredProject,
      updatedAt: string,
      events: readonly DomainEvent[],
    ): Promise<number> => {
      await tx.em.nativeUpdate(ProjectEntity, { id }, { ...project, updatedAt });
      recordEvents(events);
      return emitState(id, project.mode);
    },

    /** Archives a project, or revives it where `archivedAt` is null. */
    setArchived: async (id: string, archivedAt: string | null, events: readonly DomainEvent[]): Promise<void> => {
      await tx.em.nativeUpdate(ProjectEntity, { id }, { archivedAt });
      recordEvents(events);
    },

    /**
     * Removes a locked project without active features, reserves the id of a private one, and emits the removal of the project and its
     * segments.
     * @param eventsOf the events of the removal, in which those segments are removed with the project
     */
    remove: async (
      { id, mode }: StoredProject,
      eventsOf: (segments: readonly StoredSegment[]) => readonly DomainEvent[],
    ): Promise<void> => {
      const removed = await query<{ version: number; segment: StoredSegment }>(removeSegments, [id]);
      for (const { version, segment } of removed) emitSegmentRemoval(outbox, segment.id, version);
      const environments = await query<{ environment: string }>(removeEnvironments, [id]);
      emitProjectEnvironmentsRemovalDelivery(
        outbox,
        id,
        environments.map(({ environment }) => environment),
      );
      try {
        await tx.em.nativeDelete(ProjectEntity, { id });
      } catch (error) {
        // Another transaction added a feature after the features were counted.
        if (violatedConstraint(error) !== 'feature_project_fkey') throw error;
        throw activeFeaturesRefused('delete');
      }
      if (mode === 'private') await tx.em.insert(DeletedPrivateProjectEntity, { id });
      const { version } = await one<{ version: number }>(nextVersion, [id]);
      outbox.emitState({ entity: 'project', id, version, state: null, lastMode: mode });
      recordEvents(eventsOf(removed.map(({ segment }) => segment)));
    },

    /** The names of its features, archived or not, sorted; the first `limit` where one is given. */
    featureNames: async (id: string, limit: number | null = null): Promise<string[]> => {
      const text = 'select name from feature where project = $1 order by name limit $2';
      return (await query<{ name: string }>(text, [id, limit])).map(({ name }) => name);
    },

    /** Connects a locked environment that the project does not have. */
    connect: async (id: string, environment: string, events: readonly DomainEvent[]): Promise<void> => {
      await tx.em.insert(ProjectEnvironmentEntity, { project: id, environment });
      emitProjectEnvironmentDelivery(outbox, id, environment);
      recordEvents(events);
    },

    /** Disconnects an environment, with the usage of the project's features in it. */
    disconnect: async (id: string, environment: string, events: readonly DomainEvent[]): Promise<void> => {
      await guard.checkDisconnection(id, environment);
      await tx.em.nativeDelete(ProjectEnvironmentEntity, { project: id, environment });
      emitProjectEnvironmentsRemovalDelivery(outbox, id, [environment]);
      await query(removeUsage, [id, environment]);
      recordEvents(events);
    },

    /** The default strategy of a project in one of its environments, locked. */
    defaultStrategyForUpdate: async (id: string, environment: string): Promise<StrategyProperties | null> => {
      const text = `
        select default_strategy as strategy from project_environment where project = $1 and environment = $2 for update`;
      return (await one<{ strategy: StrategyProperties | null }>(text, [id, environment])).strategy;
    },

    /** @throws SerializationFailure when a segment or context field of the strategy was deleted concurrently. */
    setDefaultStrategy: async (
      id: string,
      environment: string,
      defaultStrategy: StrategyProperties,
      events: readonly DomainEvent[],
    ): Promise<void> => {
      await lockReferencesOfDefaultStrategy(tx, id, defaultStrategy);
      await tx.em.nativeUpdate(ProjectEnvironmentEntity, { project: id, environment }, { defaultStrategy });
      recordEvents(events);
    },

    /** Returns false if the project is a favourite of the user already. */
    addFavorite: async (project: string, userId: number, events: readonly DomainEvent[]): Promise<boolean> => {
      const isAdded = await insertIfAbsent(tx, ProjectFavoriteEntity, { project, userId });
      if (isAdded) recordEvents(events);
      return isAdded;
    },

    /** Returns false if the project is not a favourite of the user. */
    removeFavorite: async (project: string, userId: number, events: readonly DomainEvent[]): Promise<boolean> => {
      const isRemoved = (await tx.em.nativeDelete(ProjectFavoriteEntity, { project, userId })) > 0;
      if (isRemoved) recordEvents(events);
      return isRemoved;
    },
  };
}

const projects = prepared(`
  select json_build_object('version', 1, 'projects', coalesce(json_agg(${withoutNulls(
    `'id': p.id, 'name': p.name, 'description': p.description, 'mode': p.mode`,
    `'defaultStickiness': p.default_stickiness, 'featureCount': feature_counts.features`,
    `'health': ${healthSql}`,
    `'favorite': exists (select from project_favorite where project = p.id and user_id = $1)`,
    `'memberCount': ${memberCountSql}, 'owners': ${ownersSql}`,
    `'createdAt': ${timestampSql('p.created_at')}, 'archivedAt': ${orNull(timestampSql('p.archived_at'))}`,
    `'lastReportedFlagUsage': ${orNull(timestampSql('last_usage.at'))}, 'lastUpdatedAt': ${orNull(timestampSql('last_event."lastEventAt"'))}`,
  )}
    order by p.name collate "C", p.id), '[]'))::text as json
  from project p
  ${joinMetrics("($3::json -> 'projects')")}
  left join json_to_recordset($4::json -> 'projects') as last_event (id text, "lastEventAt" timestamptz) on last_event.id = p.id
  -- Of all projects at once: a subquery for each would read all features that were seen as often as there are projects.
  left join (
    select f.project, max(seen.last_seen_at) as at from feature_seen seen join feature f on f.name = seen.feature
    group by f.project) as last_usage on last_usage.project = p.id
  where (p.archived_at is not null) = $5::boolean and p.id <> all ($2::text[])`);

/** Features of all projects at once, but for those that are hidden, `$1`. */
const featureCounts = prepared(`
  select json_build_object('projects', coalesce(
    json_agg(json_build_object('id', project, 'features', features, 'live', live, 'stale', stale) order by project collate "C"), '[]'))::text as json
  from (
    select f.project, count(*) as features, count(*) filter (where f.stale) as stale,
      count(*) filter (where exists (
        select from unnest(production.names) as name where f.environments -> name -> 'enabled' = 'true')) as live
    from feature f
    join project p on p.id = f.project
    left join (
      select connection.project, array_agg(e.name) as names
      from project_environment connection join environment e on e.name = connection.environment
      where e.type = 'production' group by connection.project) as production on production.project = f.project
    where f.archived_at is null and p.archived_at is null and f.project <> all ($1::text[])
    group by f.project) as counted`);

const environmentsOfProject = prepared(`
  select coalesce((
    select json_agg(json_build_object('name', e.name, 'type', e.type, 'sortOrder', e.sort_order, 'enabled', e.enabled,
      'requiredApprovals', e.required_approvals) order by e.sort_order, e.name)
    from project_environment connection join environment e on e.name = connection.environment
    where connection.project = p.id), '[]') as environments
  from project p where p.id = $1 and p.archived_at is null`);

const environmentsOfProjects = prepared(`
  select connection.project, connection.environment
  from project_environment connection
  join environment e on e.name = connection.environment
  join project p on p.id = connection.project
  where connection.project = any ($1::text[]) and p.archived_at is null
  order by e.sort_order, e.name, connection.project`);

const idTaken = prepared(`
  select from project where id = $1 union all
  select from deleted_private_project where id = $1 and not $2::boolean`);

export interface ProjectEnvironment extends Environment {
  readonly requiredApprovals: number | null;
}

/** Replies of other services about all projects, as the JSON text that they sent; undefined without a reply. */
export interface ProjectDataFromOtherServices {
  /** of `CountProjectMembers` */
  readonly members: string | undefined;
  /** of `GetProjectActivity` */
  readonly activity: string | undefined;
}

/** Reads projects outside of transactions. */
export function projectReader(database: ReadDatabase) {
  return {
    /** The active or archived projects that a user may see, as JSON. */
    all: async (
      { archived = false }: ProjectsQuery,
      { userId, hidden }: { readonly userId: number; readonly hidden: readonly string[] },
      { members, activity }: ProjectDataFromOtherServices,
    ): Promise<string> => {
      const values = [userId, hidden, members ?? null, activity ?? null, archived];
      return readJson(database, projects, values);
    },
    featureCounts: (hidden: readonly string[]): Promise<string> => readJson(database, featureCounts, [hidden]),
    /** @throws Refusal `NotFoundError` for a project that does not exist or is archived. */
    environmentsOf: async (project: string): Promise<ProjectEnvironment[]> => {
      const [row] = await database.read<{ environments: ProjectEnvironment[] }>(environmentsOfProject, [project]);
      if (row === undefined) throw projectNotFound(project);
      return row.environments;
    },
    /** The environments of the active ones among some projects, in their order. */
    environmentsOfSome: (ids: readonly string[]) =>
      database.read<{ project: string; environment: string }>(environmentsOfProjects, [ids]),
    /** As in the repository, but outside of transactions: another request may take the name before the caller does. */
    newFeatureContext: async (project: string, name: string): Promise<NewFeatureContext> => {
      const statement = prepared(newFeatureContext);
      return onlyRow(await database.read<NewFeatureContext>(statement, [project, name]), statement);
    },
    /** @param reservedIsFree whether the reserved id of a deleted private project counts as free */
    isIdTaken: async (id: string, reservedIsFree: boolean): Promise<boolean> =>
      (await database.read(idTaken, [id, reservedIsFree])).length > 0,
  };
}
