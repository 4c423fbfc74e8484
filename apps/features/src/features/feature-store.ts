import { type Constraint, isEqual, type Refusal, type Tag } from '@bunting/contracts';
import { prepared, type ReadDatabase, type Tx, violatedConstraint } from '@bunting/database';
import type { Outbox, RecordEvents } from '@bunting/outbox';
import { changedParents } from '../dependencies/dependency.ts';
import { type EnabledFeatures, maxListedFeatures } from '../environments/environment.ts';
import {
  type ConstraintSettings,
  type PossibleReferences,
  projectContextJson,
  type ProjectContextJson,
  projectContextOf,
} from '../projects/project-context-store.ts';
import type { ProjectContext } from '../projects/project-context.ts';
import { withoutEnvironment } from '../projects/project-environment.ts';
import { activeFeatureNotFound, featureNotInProject, noFeatureFlag } from '../refusals.ts';
import { emitFeatureDelivery, emitFeatureRemovalDelivery } from '../unit-of-work/delivery.ts';
import { FeatureEntity, featureJson, sql } from '../unit-of-work/entities.ts';
import { activeChildrenOfAll } from '../unit-of-work/feature-sql.ts';
import type { BeforeAndAfter, VersionedFeature } from '../unit-of-work/if-match.ts';
import type { lockReferences as lockReferencesOf } from '../unit-of-work/lock-references.ts';
import { type ProtectionGuard, selectProtectedEnvironments } from '../unit-of-work/protection.ts';
import { SerializationFailure } from '../unit-of-work/unit-of-work.ts';
import { type DomainEvent, type Feature, strategiesOf } from './feature.ts';

function unique<T extends string | number>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

type ColumnValues = Readonly<Record<string, unknown>>;

/** The row of a feature. Its last four columns repeat parts of the JSON documents, for look-ups by index. */
function rowOf(feature: Feature): ColumnValues {
  const strategies = strategiesOf(feature);
  const constraints: readonly Constraint[] = strategies.flatMap((strategy) => strategy.constraints);
  return sql.rowOf(FeatureEntity, {
    ...feature,
    strategyIds: unique(strategies.map(({ id }) => id)),
    segmentIds: unique(strategies.flatMap(({ segments }) => segments)),
    contextNames: unique(constraints.map(({ contextName }) => contextName)),
    parents: unique(feature.dependencies.map((dependency) => dependency.feature)),
  });
}

/** Columns that the statements below compute or leave unchanged. */
const computed = sql.columnsOf(FeatureEntity, ['productionAt', 'potentiallyStale', 'version', 'editVersion']);
const names = sql.columnsOf(FeatureEntity).filter((name) => !computed.includes(name));

/** The parameter of `insertFeaturesSql`: features as rows. */
function rowsOf(features: readonly Feature[]): string {
  return JSON.stringify(features.map(rowOf));
}

/** SQL: whether the feature `new_row` is enabled in an environment of type `production`. */
const inProduction = `exists (
    select from environment e where e.type = 'production' and (new_row.environments -> e.name -> 'enabled')::boolean)`;

/** Inserts features. The versions of a feature continue those of a deleted feature with the same name. */
const insertFeaturesSql = `
  insert into feature (${names.join(', ')}, production_at, version, edit_version)
  select ${names.map((name) => `new_row.${name}`).join(', ')}, case when ${inProduction} then now() end,
    coalesce(deleted_feature.version, 0) + 1,
    coalesce(deleted_feature.version, 0) + 1
  from json_populate_recordset(null::feature, $1::json) as new_row left join deleted_feature on deleted_feature.name = new_row.name
  returning name, version, edit_version as "editVersion"`;

const types = sql.columnTypesOf(FeatureEntity);

/** Updates columns of features that exist. Columns that keep their value are left out: PostgreSQL would parse and write them, too. */
function updateFeaturesSql(columns: readonly string[]): string {
  const assignments = columns.map((name) => `${name} = new_row.${name}`);
  if (columns.includes('environments'))
    assignments.push(
      `production_at = case when feature.production_at is null and ${inProduction} then now() else feature.production_at end`,
    );
  assignments.push('version = feature.version + 1', 'edit_version = feature.version + 1');
  const typed = ['name', ...columns].map((name) => `${name} ${types.get(name)}`);
  return `
  update feature set ${assignments.join(', ')}
  from json_to_recordset($1::json) as new_row (${typed.join(', ')}) where feature.name = new_row.name`;
}

/** The columns that any of the changed features has with another value than before. */
function changedColumns(changes: readonly RowChange[]): readonly string[] {
  return names.filter((name) => changes.some(({ before, after }) => !isEqual(before[name], after[name])));
}

interface RowChange {
  readonly before: ColumnValues;
  readonly after: ColumnValues;
}

type Query = <Row>(text: string, values: readonly unknown[]) => Promise<Row[]>;

interface Row {
  readonly project: string;
  readonly mode: string;
}

const selectProjectOfFeature = `
  select f.project, p.mode from feature f join project p on p.id = f.project where f.name = $1`;

/** The refusal for a feature that a project does not have. It names the feature's own project unless that is private. */
async function refusalOfMissingFeature(query: Query, project: string, name: string): Promise<Refusal> {
  const [row] = await query<Row>(selectProjectOfFeature, [name]);
  if (row?.project === project) return activeFeatureNotFound(name);
  return featureNotInProject(name, project, row?.mode === 'private' ? undefined : row?.project);
}

/** As `refusalOfMissingFeature`, outside of transactions. */
export function readRefusalOfMissingFeature(
  database: ReadDatabase,
  { projectId, featureName }: { readonly projectId: string; readonly featureName: string },
): Promise<Refusal> {
  return refusalOfMissingFeature((text, values) => database.read(prepared(text), values), projectId, featureName);
}

export interface LockedFeature {
  readonly feature: Feature;
  readonly projectContext: ProjectContext;
}

/** A feature as it is locked. */
export interface FeatureRow {
  readonly feature: Feature;
  readonly version: number;
  readonly editVersion: number;
  /** the tags that are locked with it */
  readonly lockedTags?: readonly Tag[] | null;
}

interface SavedRow {
  readonly name: string;
  readonly version: number;
  readonly editVersion: number;
}

/** SQL: a feature `f` that is locked, with the context of its project, and the objects in the arrays that a request refers to. */
const selectForUpdate = (texts: string, numbers: string) => `
  select ${featureJson('f')} as feature, f.version, f.edit_version as "editVersion",
    ${projectContextJson(`f.context_names || ${texts}::text[]`, `f.segment_ids || ${numbers}::integer[]`)} as "projectContext",
    array(${selectProtectedEnvironments('p.id')}) as "protectedEnvironments"
  from feature f join project p on p.id = f.project`;

/** Locks the feature `$1` of the project `$2`. */
const getForUpdate = `${selectForUpdate('$3', '$4')} where f.name = $1 and f.project = $2 for update of f`;

/** SQL: whether the feature `f` is one of the names in `$1`, whose number a sub-select hides from the planner: one generic plan is reused. */
const isNamed = 'f.name = any ((select $1::text[])::text[])';

/** Locks those of the features `$1` that no other transaction has locked. */
const getFreeForUpdate = `
  ${selectForUpdate('$2', '$3')} where ${isNamed} order by f.name for update of f skip locked`;

const findForUpdate = `select ${featureJson('f')} as feature, f.version, f.edit_version as "editVersion" from feature f where f.name = $1 for update`;

const findFreeForUpdate = `
  select ${featureJson('f')} as feature, f.version, f.edit_version as "editVersion" from feature f
  where ${isNamed} order by f.name for update skip locked`;

/**
 * SQL: what `lock` selects, and after its locks those of the tags that exist, in arrays of types and values, against deletion. Operations
 * that delete tags lock features before them, too. The statement begins with `select`, so it is sent with BEGIN.
 */
function lockingTags(lock: string, types: string, values: string, waiting = ''): string {
  return `
  select * from (
    with locked as materialized (${lock}), locked_tag as (
      select type, value from tag where exists (select from locked)
        and (type, value) in (select * from unnest((select ${types}::text[]), (select ${values}::text[])))
      order by type, value for key share ${waiting})
    select locked.*, (select json_agg(json_build_object('type', type, 'value', value)) from locked_tag) as "lockedTags"
    from locked) as locked_with_tags`;
}

const findToTag = lockingTags(findForUpdate, '$2', '$3');
const findFreeToTag = lockingTags(findFreeForUpdate, '$2', '$3', 'skip locked');
const getFreeToTag = lockingTags(getFreeForUpdate, '$4', '$5', 'skip locked');

const findAllForUpdate = `
  select ${featureJson('f')} as feature, f.version, f.edit_version as "editVersion" from feature f where f.name = any ($1::text[]) order by f.name for update of f`;

const featuresAndParents = `
  select ${featureJson('f')} as feature, f.version, f.edit_version as "editVersion" from feature f
  where f.name in (
    select unnest($1::text[])
    union select unnest(child.parents) from feature child where child.name = any ($1::text[]))`;

const withParentsForUpdate = `${featuresAndParents} and ($2::text is null or f.project = $2) order by f.name for update of f`;
const withParents = `${featuresAndParents} and f.project is distinct from $2::text order by f.name`;

const children = `
  select parent, array_agg(child.name order by child.name) as children from ${activeChildrenOfAll('$1::text[]')}
  group by parent`;

const remove = `
  with deleted as (delete from feature where name = any ($1::text[]) returning name, version)
  insert into deleted_feature (name, version) select name, version + 1 from deleted
  on conflict (name) do update set version = excluded.version returning name`;
const incrementVersions = 'update feature set version = version + 1 where name = any ($1::text[])';
const deferStates = 'insert into deferred_state (feature) select unnest($1::text[])';
const takeDeferredStates = `
  delete from deferred_state where position in (
    select position from deferred_state order by position limit $1 for update skip locked
  ) returning feature`;

/** The features of the projects `$1` that have settings in the environment `$2`, from the name after `$3` on, at most `$4`. */
const withSettings = `
  select name from feature where project = any ($1::text[]) and environments ? $2 and name > $3 order by name limit $4`;
const withoutSettings = `
  select name from feature where project = any ($1::text[]) and not environments ? $2 order by name`;
const enabledFeatures = `
  select name, project, (count(*) over ())::integer as total from feature
  where project = any ($1::text[]) and archived_at is null and (environments -> $2 -> 'enabled')::boolean
  order by name limit $3`;
const countEnabledFeatures = `
  select count(*) as count from feature
  where project = any ($1::text[]) and archived_at is null and (environments -> $2 -> 'enabled')::boolean`;
const deferRemoval = `
  insert into removed_environment (project, environment)
  select distinct project, $2 from feature where project = any ($1::text[]) and environments ? $2
  on conflict do nothing`;
const takeRemovedEnvironment = `
  select project, environment, done_up_to as "doneUpTo" from removed_environment
  order by project, environment limit 1 for update skip locked`;
const recordRemoval = 'update removed_environment set done_up_to = $3 where project = $1 and environment = $2';
const stillRemoved = 'select from removed_environment where project = any ($1::text[]) and environment = $2 limit 1';
const endRemoval = 'delete from removed_environment where project = $1 and environment = $2';

interface RemovedEnvironment {
  readonly project: string;
  readonly environment: string;
  /** the settings of features up to this name have been removed */
  readonly doneUpTo: string;
}

/** The maximum number of features in one statement, and in one transaction of a deferred edit. */
export const batchSize = 500;

function batchesOf<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / batchSize) }, (_, index) =>
    items.slice(index * batchSize, (index + 1) * batchSize),
  );
}

interface FeatureWithProjectContext extends FeatureRow {
  readonly projectContext: ProjectContextJson;
  /** the protected environments of the feature's project */
  readonly protectedEnvironments: readonly string[];
}

/** The statement by which an edit locks its feature, and its values. */
export interface FeatureLock {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Whether a statement locks one feature by its name: that of `getForUpdate`, `findForUpdate` or `findToTag`. */
export function locksOneFeature(text: string): boolean {
  return text === getForUpdate || text === findForUpdate || text === findToTag;
}

/** How many objects such a statement reads or locks besides the feature. */
export function referencesOfLock({ values: [, ...lists] }: FeatureLock): number {
  return lists.filter(Array.isArray).reduce((sum, list) => sum + list.length, 0);
}

/**
 * Locks features for several edits with one statement, which waits for no other transaction.
 * @returns for each lock the row that its statement would have; undefined if there is none, or if another transaction or an earlier one of
 * the locks has the feature. It lacks tags that are locked.
 */
export async function lockFreeFeatures({ query }: Pick<Tx, 'query'>, locks: readonly FeatureLock[]) {
  const ofContext = locks.filter(({ text }) => text === getForUpdate);
  const ofTags = locks.filter(({ text }) => text === findToTag);
  const valuesOf = (list: readonly FeatureLock[], nth: number): unknown[] => list.flatMap(({ values }) => values[nth]);
  const distinct = (list: readonly FeatureLock[], nth: number): unknown[] => [...new Set(valuesOf(list, nth))];
  const references = ofContext.length === 0 ? [] : [distinct(ofContext, 2), distinct(ofContext, 3)];
  const tags = ofTags.length === 0 ? [] : [valuesOf(ofTags, 1), valuesOf(ofTags, 2)];
  const rows = await query<FeatureRow>(freeLock(ofContext.length > 0, ofTags.length > 0), [
    distinct(locks, 0),
    ...references,
    ...tags,
  ]);
  const free = new Map(rows.map((row) => [row.feature.name, row]));
  return locks.map(({ text, values: [name, project] }) => {
    const row = free.get(name as string);
    if (text === getForUpdate && row?.feature.project !== project) return undefined;
    free.delete(name as string);
    return row;
  });
}

function freeLock(hasContext: boolean, hasTags: boolean): string {
  if (hasContext) return hasTags ? getFreeToTag : getFreeForUpdate;
  return hasTags ? findFreeToTag : findFreeForUpdate;
}

interface FeatureRepositoryOptions {
  /** refuses edits that require a change request */
  readonly guard: ProtectionGuard;
  /** locks what stored features newly refer to */
  readonly lockReferences: ReturnType<typeof lockReferencesOf>;
  /** the projects that the caller may not see */
  readonly hidden: readonly string[];
  /** whether the caller may see a project; the check is repeated before the reply is replayed to a retry */
  readonly isProjectVisible: (project: string) => boolean;
  readonly settings: ConstraintSettings;
  readonly recordEvents: RecordEvents;
  /** called when states are left to `emitDeferredStates`, or settings to `removeDeferredSettings` */
  readonly onDeferred: () => void;
}

/**
 * Features within a transaction. Methods that end in `ForUpdate` lock rows until the transaction ends. Features of projects that the caller
 * may not see are as good as missing, except for the methods that say so.
 */
export function featureRepository(
  { query }: Tx,
  outbox: Outbox,
  { guard, lockReferences, hidden, isProjectVisible, settings, recordEvents, onDeferred }: FeatureRepositoryOptions,
) {
  /** the locked and added features, as they were last stored */
  const current = new Map<string, Feature>();
  const locked = new Map<string, BeforeAndAfter<VersionedFeature>>();

  /** the versions of the locked and added features */
  const versions = new Map<string, number>();

  const lockedTags: Tag[] = [];

  const track = ({ feature, version, editVersion, lockedTags: tags }: FeatureRow): Feature => {
    lockedTags.push(...(tags ?? []));
    current.set(feature.name, feature);
    versions.set(feature.name, version);
    if (!locked.has(feature.name))
      locked.set(feature.name, { before: { feature, editVersion }, after: { feature, editVersion } });
    return feature;
  };

  const recordStored = (name: string, editVersion: number): void => {
    const [lockedFeature, feature] = [locked.get(name), current.get(name)];
    if (lockedFeature !== undefined && feature !== undefined) lockedFeature.after = { feature, editVersion };
  };

  const findOfInstance = async (statement: string, ...values: unknown[]): Promise<Feature[]> =>
    (await query<FeatureRow>(statement, values)).map(track);

  const isVisible = ({ project }: Pick<Feature, 'project'>): boolean => isProjectVisible(project);
  const find = async (statement: string, ...values: unknown[]): Promise<Feature[]> =>
    (await findOfInstance(statement, ...values)).filter(isVisible);

  /** The version of a feature after one more statement that writes its row. */
  const nextVersion = (name: string): number => {
    const version = versions.get(name);
    if (version === undefined) throw new Error(`The feature ${name} is saved without a lock on it.`);
    versions.set(name, version + 1);
    return version + 1;
  };

  /** the features before a write, by name; undefined for a new one */
  type Before = ReadonlyMap<string, Feature | undefined>;

  const insertAll = async (features: readonly Feature[]): Promise<void> => {
    for (const { name, version, editVersion } of await query<SavedRow>(insertFeaturesSql, [rowsOf(features)])) {
      versions.set(name, version);
      recordStored(name, editVersion);
      outbox.emitChange('feature', name);
    }
  };

  /** Sends a full batch at once, and waits for it: more may follow, and of a large write one batch at a time is in memory as text. */
  const waitAfterFullBatch = async (batch: readonly unknown[]): Promise<void> => {
    if (batch.length === batchSize) await query('select');
  };

  /** Sends the update without waiting for the result: the rows are locked, so the next versions can be computed. */
  const updateAll = (features: readonly Feature[], before: Before): Promise<void> => {
    const changes = features.map((after) => ({ before: rowOf(before.get(after.name) ?? after), after: rowOf(after) }));
    const columns = changedColumns(changes);
    const rows = changes.map(({ after }) =>
      Object.fromEntries(['name', ...columns].map((name) => [name, after[name]])),
    );
    outbox.send(updateFeaturesSql(columns), [JSON.stringify(rows)]);
    for (const { name } of features) {
      outbox.emitChange('feature', name);
      recordStored(name, nextVersion(name));
    }
    return waitAfterFullBatch(features);
  };

  /** Sends the states of features whose rows stay the same, with their next versions. */
  const emitAgain = (names: readonly string[]): Promise<void> => {
    outbox.send(incrementVersions, [names]);
    for (const name of names) {
      outbox.emitChange('feature', name);
      if (versions.has(name)) nextVersion(name);
    }
    return waitAfterFullBatch(names);
  };

  const write = async (
    store: (features: readonly Feature[], before: Before) => Promise<void>,
    features: readonly Feature[],
    like?: Feature,
  ): Promise<void> => {
    const before = new Map(features.map(({ name }) => [name, current.get(name)]));
    for (const feature of features) {
      const stored = before.get(feature.name);
      await (stored === undefined ? guard.checkAddition(feature) : guard.checkEdit(stored, feature));
    }
    // The state of a parent has its number of children, which its row lacks.
    const parents = new Set(features.flatMap((feature) => changedParents(current.get(feature.name), feature)));
    for (const batch of batchesOf(features)) {
      await lockReferences(
        batch.map((after) => ({ before: current.get(after.name), after, like })),
        lockedTags,
      );
      for (const feature of batch) current.set(feature.name, feature);
      await store(batch, before);
    }
    for (const batch of batchesOf([...parents].sort())) await emitAgain(batch);
    for (const feature of features) emitFeatureDelivery(outbox, before.get(feature.name), feature);
  };

  /** @param like a locked feature, whose references need no further locks */
  const add = async (features: readonly Feature[], events: readonly DomainEvent[], like?: Feature): Promise<void> => {
    try {
      await write(insertAll, features, like);
    } catch (error) {
      if (violatedConstraint(error) !== 'feature_pkey') throw error;
      throw new SerializationFailure('A feature with the same name was added concurrently.');
    }
    recordEvents(events);
  };

  /** Saves locked features and emits their states. Features that are the same objects as before are not written. */
  const save = async (features: readonly Feature[], events: readonly DomainEvent[]): Promise<void> => {
    await write(
      updateAll,
      features.filter((feature) => current.get(feature.name) !== feature),
    );
    recordEvents(events);
  };

  /**
   * Emits the states of features whose rows do not change, for example because their project gets another environment. Of many, those
   * after the first `batchSize` are emitted in the background: such a write must not hold the rows of all features.
   */
  const emitStates = async (names: readonly string[]): Promise<void> => {
    if (names.length > 0) await emitAgain(names.slice(0, batchSize));
    if (names.length <= batchSize) return;
    await query(deferStates, [names.slice(batchSize)]);
    onDeferred();
  };

  const namesOf = async (statement: string, ...values: unknown[]): Promise<string[]> =>
    (await query<{ name: string }>(statement, values)).map(({ name }) => name);

  /** The names of the active features that depend on each of the locked ones; those without any are left out. */
  const childrenOfAll = async (names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> => {
    const rows = await query<{ parent: string; children: readonly string[] }>(children, [names]);
    return new Map(rows.map((row) => [row.parent, row.children]));
  };

  return {
    /** The locked features, by name. */
    locked,

    /** Locks a feature of a project and reads the context of the project, with the objects that a request refers to, in one statement. */
    getForUpdate: async (
      project: string,
      name: string,
      { texts, numbers }: PossibleReferences,
    ): Promise<LockedFeature> => {
      const [row] = await query<FeatureWithProjectContext>(getForUpdate, [name, project, texts, numbers]);
      if (row === undefined) throw await refusalOfMissingFeature(query, project, name);
      const feature = track(row);
      guard.cacheProtected(feature.project, row.protectedEnvironments);
      return { feature, projectContext: projectContextOf(row.projectContext, hidden, settings) };
    },

    /** Locks a feature of any project. */
    findForUpdate: async (name: string): Promise<Feature | undefined> => (await find(findForUpdate, name))[0],
    /** Locks a feature of any project, and with it those of the tags that exist. */
    findToTag: async (name: string, tags: readonly Tag[]): Promise<Feature | undefined> => {
      const types = tags.map(({ type }) => type);
      const values = tags.map(({ value }) => value);
      return (await find(findToTag, name, types, values))[0];
    },
    /** The tags that are locked already. */
    lockedTags: lockedTags as readonly Tag[],
    /** Locks the named features that exist, of any project, in the order of their names. */
    findAllForUpdate: (names: readonly string[]): Promise<Feature[]> => find(findAllForUpdate, names),
    /** As `findAllForUpdate`, also those of hidden projects: for writes that change every feature of the instance. */
    findAllOfInstanceForUpdate: (names: readonly string[]): Promise<Feature[]> =>
      findOfInstance(findAllForUpdate, names),
    /** Locks the named features that exist, of any or the given project, and their parents, in the order of their names. */
    findWithParentsForUpdate: (names: readonly string[], project?: string): Promise<Feature[]> =>
      find(withParentsForUpdate, names, project ?? null),
    /**
     * Reads the named features that exist and their parents, also those of hidden projects, whose names are taken, too; without locks and
     * without those of the project `except`.
     */
    findWithParents: async (names: readonly string[], except?: string): Promise<Feature[]> =>
      (await query<FeatureRow>(withParents, [names, except ?? null])).map(({ feature }) => feature),

    /** Reads, without a lock, the name and the project of the feature that has a strategy; undefined if none has it. */
    findRefOfStrategy: async (strategyId: string): Promise<Pick<Feature, 'name' | 'project'> | undefined> => {
      const text = `select name, project from feature where strategy_ids @> array[$1::text] and strategy_ids <> '{}'`;
      return (await query<Pick<Feature, 'name' | 'project'>>(text, [strategyId])).find(isVisible);
    },

    /** Locks a feature and its parents, whose states change with the children. */
    getWithParentsForUpdate: async (project: string, name: string): Promise<Feature> => {
      const found = (await find(withParentsForUpdate, [name], null)).find((feature) => feature.name === name);
      if (found === undefined) throw noFeatureFlag();
      if (found.project !== project) throw await refusalOfMissingFeature(query, project, name);
      return found;
    },
    /**
     * As `getWithParentsForUpdate`, also locks the feature of any project that is to become the parent, so that neither becomes a parent or a
     * child concurrently.
     */
    getWithNewParentForUpdate: async (
      project: string,
      name: string,
      newParent: string,
    ): Promise<{ readonly child: Feature; readonly parent: Feature | undefined }> => {
      const found = await find(withParentsForUpdate, [name, newParent], null);
      const child = found.find((feature) => feature.name === name && feature.project === project);
      if (child === undefined) throw featureNotInProject(name, project);
      return { child, parent: found.find((feature) => feature.name === newParent) };
    },

    childrenOfAll,

    /** The names of the active features that depend on a locked one. */
    childrenOf: async (name: string): Promise<readonly string[]> => (await childrenOfAll([name])).get(name) ?? [],

    /**
     * Adds features and emits their states.
     * @throws SerializationFailure when a feature of the same name was added concurrently: the retried transaction finds it.
     */
    add: (features: readonly Feature[], events: readonly DomainEvent[]): Promise<void> => add(features, events),

    /**
     * Adds a clone of a locked feature, whose references need no further locks, and emits its state.
     * @throws SerializationFailure as `add`.
     */
    addClone: (source: Feature, clone: Feature, events: readonly DomainEvent[]): Promise<void> =>
      add([clone], events, source),

    save,
    emitStates,

    /**
     * Emits states that `emitStates` has deferred.
     * @returns how many were taken, at most `limit`
     */
    emitDeferredStates: async (limit: number): Promise<number> => {
      const taken = await query<{ feature: string }>(takeDeferredStates, [limit]);
      if (taken.length > 0) await emitAgain([...new Set(taken.map(({ feature }) => feature))].sort());
      return taken.length;
    },

    /** The first names after the given one of the features of projects that have settings in an environment, at most `batchSize`, sorted. */
    namesWithSettings: (projects: readonly string[], environment: string, after: string): Promise<string[]> =>
      namesOf(withSettings, projects, environment, after, batchSize),
    /** The names of the features of projects that have no settings in an environment, sorted. */
    namesWithoutSettings: (projects: readonly string[], environment: string): Promise<string[]> =>
      namesOf(withoutSettings, projects, environment),
    /** The number of active features of projects that are enabled in an environment. */
    countEnabled: async (projects: readonly string[], environment: string): Promise<number> =>
      (await query<{ count: number }>(countEnabledFeatures, [projects, environment]))[0]?.count ?? 0,

    /** Whether settings in an environment that a project had are still to be removed. */
    hasSettingsToRemove: async (projects: readonly string[], environment: string): Promise<boolean> =>
      (await query(stillRemoved, [projects, environment])).length > 0,

    /**
     * Removes the settings in an environment that the projects no longer have from their features, and emits the states of all of these. Where
     * more than `batchSize` have settings, these are removed in the background: such a write must not hold the rows of all features. Until
     * then no project shows them, and none of these projects gets the environment again.
     * @param decide the events of the removal, or a refusal, from the active features that are enabled there
     */
    removeSettings: async (
      projects: readonly string[],
      environment: string,
      decide: (enabled: EnabledFeatures) => readonly DomainEvent[],
    ): Promise<void> => {
      const concerned = await namesOf(withSettings, projects, environment, '', batchSize + 1);
      const isDeferred = concerned.length > batchSize;
      const found = isDeferred ? [] : await findOfInstance(findAllForUpdate, concerned);
      // Read after the locks, so that features that were enabled meanwhile are among them.
      const first = await query<EnabledFeatures['first'][number] & { readonly total: number }>(enabledFeatures, [
        projects,
        environment,
        maxListedFeatures,
      ]);
      const events = decide({ total: first[0]?.total ?? 0, first });
      // Whoever has settings gets its state with their removal.
      const others = await namesOf(withoutSettings, projects, environment);
      if (isDeferred) {
        await query(deferRemoval, [projects, environment]);
        onDeferred();
      }
      await save(
        found.map((feature) => withoutEnvironment(feature, environment)),
        events,
      );
      await emitStates(others);
    },

    /**
     * Removes settings that `removeSettings` has deferred, of at most `limit` features of one project. A project is done once all of its
     * features have been looked through again in vain: a feature that was cloned meanwhile has the settings of its source.
     * @returns whether there may be more
     */
    removeDeferredSettings: async (limit: number): Promise<boolean> => {
      const [removed] = await query<RemovedEnvironment>(takeRemovedEnvironment, []);
      if (removed === undefined) return false;
      const { project, environment, doneUpTo } = removed;
      const names = await namesOf(withSettings, [project], environment, doneUpTo, limit);
      const last = names.at(-1);
      if (last === undefined && doneUpTo === '') await query(endRemoval, [project, environment]);
      else await query(recordRemoval, [project, environment, last ?? '']);
      const found = (await findOfInstance(findAllForUpdate, names)).filter((feature) => feature.project === project);
      await save(
        found.map((feature) => withoutEnvironment(feature, environment)),
        [],
      );
      return true;
    },

    /** Removes locked features with everything that belongs to them, and emits their removal. */
    remove: async (features: readonly Feature[], events: readonly DomainEvent[]): Promise<void> => {
      for (const feature of features) await guard.checkRemoval(feature);
      for (const batch of batchesOf(features)) {
        const names = batch.map(({ name }) => name);
        for (const { name } of await query<{ name: string }>(remove, [names])) {
          const removed = locked.get(name);
          if (removed !== undefined) removed.after = undefined;
          const before = current.get(name);
          if (before !== undefined) emitFeatureRemovalDelivery(outbox, before);
          outbox.emitChange('feature', name);
        }
      }
      recordEvents(events);
    },
  };
}
