import { type CreateStrategy, type FeatureState, refusal } from '@bunting/contracts';
import { brokenConstraint, type Tx } from '@bunting/database';
import type { Outbox } from '@bunting/outbox';
import type { StoredProject } from '../../domain/project.ts';
import type { StoredSegment } from '../../domain/segment.ts';
import { ProjectEntity, sql, storedSegmentJson } from '../entities.ts';
import { statesOf } from '../features/feature-json.ts';

/** A project as it is found, archived or not. */
export interface LockedProject {
  readonly project: StoredProject;
  readonly isArchived: boolean;
  readonly activeFeatures: number;
  /** the names of its environments */
  readonly environments: readonly string[];
}

const lockProject = 'select from project where id = $1 for update';
// After the lock, as a statement of its own: it must see what was committed while the lock was waited for.
const find = `
  select ${sql.jsonOf(ProjectEntity, 'p')} as project,
    p.archived_at is not null as "isArchived",
    (select count(*) from feature where project = p.id and archived_at is null) as "activeFeatures",
    array(select environment from project_environment where project = p.id) as environments
  from project p where p.id = $1`;

const removeSegments = `
  delete from segment s where s.project = $1 returning s.version, ${storedSegmentJson('s')} as segment`;

const touch = `
  with saved as (update feature set version = version + 1 where name = any ($1::text[]) returning *) ${statesOf('saved')}`;

/** What is told of a project has a higher version than all that was told of one with its id before. */
export const nextProjectVersion = async ({ query }: Pick<Tx, 'query'>): Promise<number> => {
  const [row] = await query<{ version: number }>("select nextval('project_version') as version");
  if (row === undefined) throw new Error('A sequence gave no number.');
  return row.version;
};

/** How many features go into one statement. */
const batch = 500;

/** Projects that are there already, within a unit of work. */
export const projectSettings = ({ query }: Tx, outbox: Outbox) => ({
  findForUpdate: async (id: string): Promise<LockedProject | undefined> => {
    await query(lockProject, [id]);
    return (await query<LockedProject>(find, [id]))[0];
  },

  /** Returns the version that its state has. */
  save: async (
    { id, name, description, mode, defaultStickiness, featureLimit, featureNaming }: StoredProject,
    updatedAt: string,
  ): Promise<number> => {
    const text = `
      update project set name = $2, description = $3, mode = $4, default_stickiness = $5, feature_limit = $6,
        feature_naming = $7::jsonb, updated_at = $8::timestamptz where id = $1
      returning created_by as "createdBy", nextval('project_version') as version`;
    const naming = featureNaming === null ? null : JSON.stringify(featureNaming);
    const values = [id, name, description, mode, defaultStickiness, featureLimit, naming, updatedAt];
    const [saved] = await query<{ createdBy: number | null; version: number }>(text, values);
    if (saved === undefined) throw new Error(`The project ${id} is locked, and is not there.`);
    outbox.state({ entity: 'project', id, version: saved.version, state: { id, mode, createdBy: saved.createdBy } });
    return saved.version;
  },

  /** Archives a project, or brings it back. */
  setArchived: async (id: string, archivedAt: string | null): Promise<void> => {
    await query('update project set archived_at = $2::timestamptz where id = $1', [id, archivedAt]);
  },

  /**
   * Removes a project that has no features any more, and reserves its id when it was private. Returns the segments that were its own, and
   * tells that they are gone.
   */
  remove: async (id: string): Promise<readonly StoredSegment[]> => {
    const removed = await query<{ version: number; segment: StoredSegment }>(removeSegments, [id]);
    for (const { version, segment } of removed) {
      outbox.state({ entity: 'segment', id: String(segment.id), version: version + 1, state: null });
    }
    let lastMode: StoredProject['mode'];
    try {
      const text = 'delete from project where id = $1 returning mode';
      const [gone] = await query<{ mode: StoredProject['mode'] }>(text, [id]);
      lastMode = gone?.mode ?? 'private';
    } catch (error) {
      // Somebody has made a feature since the features were counted.
      if (brokenConstraint(error) !== 'feature_project_fkey') throw error;
      throw refusal('InvalidOperationError', 'You can not delete a project with active feature flags');
    }
    if (lastMode === 'private') await query('insert into deleted_private_project (id) values ($1)', [id]);
    outbox.state({ entity: 'project', id, version: await nextProjectVersion({ query }), state: null, lastMode });
    return removed.map(({ segment }) => segment);
  },

  /** The names of its features, archived or not, in their order. */
  featuresOf: async (id: string): Promise<string[]> => {
    const text = 'select name from feature where project = $1 order by name';
    return (await query<{ name: string }>(text, [id])).map(({ name }) => name);
  },

  /** False when there is no such environment. */
  connect: async (id: string, environment: string): Promise<boolean> => {
    const text = `
      insert into project_environment (project, environment) select $1, name from environment where name = $2 for key share
      returning environment`;
    return (await query(text, [id, environment])).length > 0;
  },

  disconnect: async (id: string, environment: string): Promise<void> => {
    await query('delete from project_environment where project = $1 and environment = $2', [id, environment]);
    const text = `
      delete from feature_seen seen using feature f
      where f.name = seen.feature and f.project = $1 and seen.environment = $2`;
    await query(text, [id, environment]);
  },

  defaultStrategyOf: async (id: string, environment: string): Promise<CreateStrategy | null> => {
    const text = `
      select default_strategy as strategy from project_environment where project = $1 and environment = $2 for update`;
    return (await query<{ strategy: CreateStrategy | null }>(text, [id, environment]))[0]?.strategy ?? null;
  },

  setDefaultStrategy: async (id: string, environment: string, strategy: CreateStrategy): Promise<void> => {
    const text = 'update project_environment set default_strategy = $3::jsonb where project = $1 and environment = $2';
    await query(text, [id, environment, JSON.stringify(strategy)]);
  },

  /** Tells the states of features anew: what surrounds them has changed. */
  tellAgain: async (names: readonly string[]): Promise<void> => {
    for (let from = 0; from < names.length; from += batch) {
      const rows = await query<{ version: number; state: FeatureState }>(touch, [names.slice(from, from + batch)]);
      for (const { version, state } of rows) outbox.state({ entity: 'feature', id: state.name, version, state });
    }
  },

  /** False when it is no different from before. */
  setFavorite: async (id: string, userId: number, isFavorite: boolean): Promise<boolean> => {
    const text = isFavorite
      ? 'insert into project_favorite (project, user_id) values ($1, $2) on conflict do nothing returning project'
      : 'delete from project_favorite where project = $1 and user_id = $2 returning project';
    return (await query(text, [id, userId])).length > 0;
  },
});
export type ProjectSettings = ReturnType<typeof projectSettings>;
