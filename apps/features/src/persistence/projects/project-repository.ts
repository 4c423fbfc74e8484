import {
  type Caller,
  type CreatedProject,
  type Environment,
  type GetProjectActivity,
  notFound,
  type ReplyOf,
} from '@bunting/contracts';
import { brokenConstraint, type Database, momentSql, type Statement, type Tx } from '@bunting/database';
import type { FeatureNaming } from '../../domain/names.ts';
import { mayReuseIds, projectIdTaken } from '../../domain/project.ts';
import { named } from '../../domain/refusals.ts';
import type { Outbox } from '@bunting/outbox';
import { type ProjectMembers, memberCount, owners } from './project-members.ts';
import { health, joinMetrics, lastUsageAt } from './project-metrics.ts';
import { nextProjectVersion } from './project-settings.ts';
import { OvertakenError } from '../features/feature-references.ts';
import { orNull, withoutNulls } from '../json-sql.ts';
import { ProjectEntity, ProjectEnvironmentEntity } from '../entities.ts';

/** What a new feature must know of the place that it is to have. */
export interface NewFeatureContext {
  /** whether there is a feature of that name already, in whichever project */
  readonly taken: 'active' | 'archived' | null;
  /** null: no such project, or one that is archived */
  readonly project: { readonly naming: FeatureNaming | null; readonly featureLimit: number | null } | null;
}

const placeFor = `
  select exists (select from project where id = $1) as taken,
    exists (select from deleted_private_project where id = $1) as reserved,
    (select coalesce(json_agg(json_build_object('name', name, 'type', type, 'sortOrder', sort_order, 'enabled', enabled)
      order by sort_order, name), '[]') from environment) as environments`;

const placeForFeature = `
  select
    (select case when archived_at is null then 'active' else 'archived' end from feature where name = $2) as taken,
    (select json_build_object('naming', feature_naming, 'featureLimit', feature_limit)
     from project where id = $1 and archived_at is null) as project`;

const holdProject = 'select from project where id = $1 for share';
const holdProjectOf = 'select from project where id = (select project from feature where name = $1) for share';

const lock = 'select pg_advisory_xact_lock(hashtext($1), hashtext($2))';

/** Projects within a unit of work. */
export const projectRepository = (tx: Tx, outbox: Outbox) => {
  const { query } = tx;
  const one = async <Row>(text: string, values: readonly unknown[]): Promise<Row> =>
    (await query<Row>(text, values))[0] as Row;
  // The count is a statement of its own: it must see what was committed while this one waited.
  const counted = async (what: string, which: string, text: string, values: readonly unknown[]): Promise<number> => {
    await query(lock, [what, which]);
    return (await one<{ count: number }>(text, values)).count;
  };

  return {
    /** Every environment that there is, by its place, and whether the id of a project is taken, or reserved by a private project that was deleted. */
    newProjectContext: (
      id: string,
    ): Promise<{
      readonly taken: boolean;
      readonly reserved: boolean;
      readonly environments: readonly Environment[];
    }> => one(placeFor, [id]),
    /** The project of that id, or of the feature of that name, stays what it is until the end of this work: asked for before features are. */
    lockShared: async (which: { readonly project: string } | { readonly feature: string }): Promise<void> => {
      const of = 'project' in which ? [holdProject, which.project] : [holdProjectOf, which.feature];
      await query(of[0] as string, [of[1]]);
    },
    newFeatureContext: (project: string, name: string): Promise<NewFeatureContext> =>
      one(placeForFeature, [project, name]),
    /** How many projects there are; nobody else adds one until the end of this work. */
    lockAndCount: (): Promise<number> => counted('projects', '', 'select count(*) from project', []),
    /** How many active features a project has, or the whole installation; nobody else who asks adds one until the end of this work. */
    lockAndCountFeatures: (project: string | undefined): Promise<number> =>
      project === undefined
        ? counted('features', '', 'select count(*) from feature where archived_at is null', [])
        : counted('features', project, 'select count(*) from feature where project = $1 and archived_at is null', [
            project,
          ]),

    /**
     * Returns the version that its state has.
     * @throws Refusal `NameExistsError` for an id that is taken, and to others than administrators for one that is reserved.
     */
    add: async (
      { id, name, description, mode, defaultStickiness, environments }: CreatedProject,
      by: Caller,
      createdAt: string,
    ): Promise<number> => {
      const { id: createdBy } = by;
      const { em } = tx;
      em.create(ProjectEntity, { id, name, description, mode, defaultStickiness, createdBy, createdAt });
      for (const environment of environments) em.create(ProjectEnvironmentEntity, { project: id, environment });
      try {
        await em.flush();
      } catch (error) {
        const broken = brokenConstraint(error);
        // One of them was deleted meanwhile; done again, the work finds out which.
        if (broken === 'project_environment_environment_fkey') throw new OvertakenError('An environment is gone.');
        if (broken !== 'project_pkey') throw error;
        throw projectIdTaken();
      }
      // Decided after the insert, which waits for others who write that id: this statement sees what they left.
      const text = 'delete from deleted_private_project where id = $1 returning id';
      if ((await query(text, [id])).length > 0 && !mayReuseIds(by)) throw projectIdTaken();
      const version = await nextProjectVersion({ query });
      outbox.state({ entity: 'project', id, version, state: { id, mode, createdBy } });
      return version;
    },
  };
};
export type ProjectRepository = ReturnType<typeof projectRepository>;

const projects: Statement = {
  name: 'projects',
  text: `
    select json_build_object('version', 1, 'projects', coalesce(json_agg(${withoutNulls(
      `'id': p.id, 'name': p.name, 'description': p.description, 'mode': p.mode`,
      `'defaultStickiness': p.default_stickiness, 'featureCount': counted.features`,
      `'health': ${health}`,
      `'favorite': exists (select from project_favorite where project = p.id and user_id = $1)`,
      `'memberCount': ${memberCount}, 'owners': ${owners}`,
      `'createdAt': ${momentSql('p.created_at')}, 'archivedAt': ${orNull('p.archived_at')}`,
      `'lastReportedFlagUsage': ${orNull(lastUsageAt)}, 'lastUpdatedAt': ${orNull(momentSql('recent."lastEventAt"'))}`,
    )}
      order by p.name collate "C", p.id), '[]'))::text as json
    from project p
    ${joinMetrics('$3')}
    left join json_to_recordset($4::json) as recent (id text, "lastEventAt" timestamptz) on recent.id = p.id
    where p.archived_at is null and p.id <> all ($2::text[])`,
};

const environmentsOfProject: Statement = {
  name: 'environments-of-project',
  text: `
    select coalesce((
      select json_agg(json_build_object('name', e.name, 'type', e.type, 'sortOrder', e.sort_order, 'enabled', e.enabled,
        'requiredApprovals', e.required_approvals) order by e.sort_order, e.name)
      from project_environment connected join environment e on e.name = connected.environment
      where connected.project = p.id), '[]') as environments
    from project p where p.id = $1 and p.archived_at is null`,
};

export interface ProjectEnvironment extends Environment {
  readonly requiredApprovals: number | null;
}

/** When the newest event of a project happened. */
export type ProjectLastEvent = Pick<ReplyOf<typeof GetProjectActivity>['projects'][number], 'id' | 'lastEventAt'>;

/** Projects as they are now, for who only looks. */
export const projectReader = (database: Database) => ({
  /**
   * The projects that are not archived, for a user, as JSON. @param held who is a member of which, as the gateway says
   * @param recent when their newest events happened, as the event log says
   */
  all: async (
    userId: number,
    hidden: readonly string[],
    held: readonly ProjectMembers[],
    recent: readonly ProjectLastEvent[],
  ): Promise<string> => {
    const values = [userId, hidden, JSON.stringify(held), JSON.stringify(recent)];
    return (await database.read<{ json: string }>(projects, values))[0]?.json ?? '';
  },
  environmentsOf: async (project: string): Promise<ProjectEnvironment[]> => {
    const [row] = await database.read<{ environments: ProjectEnvironment[] }>(environmentsOfProject, [project]);
    if (row === undefined) throw notFound(`Could not find project with id ${named(project)}`);
    return row.environments;
  },
  /** What a feature of that name would find there; somebody else may come first. */
  newFeatureContext: async (project: string, name: string): Promise<NewFeatureContext> => {
    const statement = { name: 'place-for-feature', text: placeForFeature };
    return (await database.read<NewFeatureContext>(statement, [project, name]))[0] as NewFeatureContext;
  },
});
export type ProjectReader = ReturnType<typeof projectReader>;
