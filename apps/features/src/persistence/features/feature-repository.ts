import { type FeatureState, notFound, refusal } from '@bunting/contracts';
import { violatedConstraint, type Tx } from '@bunting/database';
import { insertStates, type Outbox } from '@bunting/outbox';
import type { Feature } from '../../domain/feature.ts';
import type { Surroundings } from '../../domain/surroundings.ts';
import { missingFeature } from './missing-feature.ts';
import { featureJson } from '../entities.ts';
import { statesOf } from './feature-json.ts';
import { type FeatureJson, featureOf, insertFeatures, rowsOf, updateFeatures } from './feature-row.ts';
import type { lockReferences as lockReferencesOf } from './feature-references.ts';
import { noGuard, protectedOfProject, type ProtectionGuard } from '../changes/protection.ts';
import { type References, surroundingsJson, type SurroundingsJson, surroundingsOf } from './surroundings.ts';
import type { Seen, SeenFeature } from '../entity-tags.ts';

/** A feature, and what the rules must know beside it. */
export interface Found {
  readonly feature: Feature;
  readonly surroundings: Surroundings;
}

interface FoundRow {
  readonly feature: FeatureJson;
  readonly version: number;
  readonly edition: number;
}

interface SavedRow {
  readonly id: string;
  readonly version: number;
  readonly edition: number;
  readonly state: FeatureState;
}

const nobody: References = { texts: [], numbers: [] };

const getForUpdate = `
  select ${featureJson('f')} as feature, f.version, f.edition,
    ${surroundingsJson('f.context_names || $3::text[]', 'f.segment_ids || $4::integer[]')} as surroundings,
    array(${protectedOfProject('p.id')}) as guarded
  from feature f join project p on p.id = f.project
  where f.name = $1 and f.project = $2
  for update of f`;

const findForUpdate = `select ${featureJson('f')} as feature, f.version, f.edition from feature f where f.name = $1 for update`;

const findAllForUpdate = `
  select ${featureJson('f')} as feature, f.version, f.edition from feature f where f.name = any ($1::text[]) order by f.name for update of f`;

const families = `
  select ${featureJson('f')} as feature, f.version, f.edition from feature f
  where f.name in (
    select unnest($1::text[])
    union select unnest(child.parents) from feature child where child.name = any ($1::text[]))`;

const findFamiliesForUpdate = `${families} and ($2::text is null or f.project = $2) order by f.name for update of f`;
const findFamilies = `${families} and f.project is distinct from $2::text order by f.name`;

const children = `
  select name from feature where parents @> array[$1::text] and parents <> '{}' and archived_at is null order by name`;

const insert = `with saved as (${insertFeatures}) ${statesOf('saved')}`;
const savingStates = (write: string): string =>
  `with saved as (${write}) ${insertStates('feature', `(${statesOf('saved')}) as stored`, '$2')}`;
const update = savingStates(updateFeatures);
const remove = `
  with gone as (delete from feature where name = any ($1::text[]) returning name, version)
  insert into deleted_feature (name, version) select name, version + 1 from gone
  on conflict (name) do update set version = excluded.version returning name, version`;
const touch = savingStates('update feature set version = version + 1 where name = any ($1::text[]) returning *');

/** How many features go into one statement. */
const batch = 500;

const inBatches = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / batch) }, (_, nth) => items.slice(nth * batch, (nth + 1) * batch));

/** The parents that a feature has won or lost. */
const changedParents = (before: Feature | undefined, after: Feature): string[] => {
  const earlier = new Set(before?.dependencies.map(({ feature }) => feature));
  const later = new Set(after.dependencies.map(({ feature }) => feature));
  return [...earlier, ...later].filter((parent) => earlier.has(parent) !== later.has(parent));
};

interface Loaded extends FoundRow {
  readonly surroundings: SurroundingsJson;
  /** the protected environments of its project */
  readonly guarded: readonly string[];
}

/**
 * Features within a unit of work. A feature that is read for update stays locked until that work ends.
 * @param guard is asked before an edit is stored: it throws where the edit takes a change request
 * @param lockReferences is told what is stored: it throws when something that a feature newly speaks of is gone
 * @param hidden the projects that are not there for who has the work done
 */
export const featureRepository = (
  { query }: Tx,
  outbox: Outbox,
  guard: ProtectionGuard = noGuard,
  lockReferences?: ReturnType<typeof lockReferencesOf>,
  hidden: readonly string[] = [],
) => {
  /** what was got for update, as it was last stored */
  const known = new Map<string, Feature>();
  const seen = new Map<string, Seen<SeenFeature>>();

  /** the versions of what was got for update or added */
  const versions = new Map<string, number>();

  const remembered = ({ feature: json, version, edition }: FoundRow): Feature => {
    const feature = featureOf(json);
    known.set(feature.name, feature);
    versions.set(feature.name, version);
    if (!seen.has(feature.name)) seen.set(feature.name, { before: { feature, edition }, after: { feature, edition } });
    return feature;
  };

  /** What was stored, with the edition that it is since then; an edit by others, such as another child, is none. */
  const stored = (name: string, edition: number): void => {
    const [one, feature] = [seen.get(name), known.get(name)];
    if (one !== undefined && feature !== undefined) one.after = { feature, edition };
  };

  const find = async (statement: string, ...values: unknown[]): Promise<Feature[]> =>
    (await query<FoundRow>(statement, values)).map(remembered);

  /** The version that a feature has after one more statement that writes its row. */
  const nextVersion = (name: string): number => {
    const version = (versions.get(name) ?? 0) + 1;
    versions.set(name, version);
    return version;
  };

  const inserted = async (features: readonly Feature[]): Promise<void> => {
    for (const { id, version, edition, state } of await query<SavedRow>(insert, [rowsOf(features)])) {
      versions.set(id, version);
      stored(id, edition);
      outbox.state({ entity: 'feature', id, version, state });
    }
  };

  /** Sends the update. Its outcome is known without waiting for it: the rows are locked, and an edit makes the next version. */
  const updated = (features: readonly Feature[]): void => {
    outbox.send(update, [rowsOf(features)]);
    for (const { name } of features) stored(name, nextVersion(name));
  };

  /** Sends the states of features whose rows stay the same, with their next versions. */
  const emitAgain = (names: readonly string[]): void => {
    outbox.send(touch, [names]);
    for (const name of names) if (versions.has(name)) nextVersion(name);
  };

  const write = async (
    store: (features: readonly Feature[]) => Promise<void> | void,
    features: readonly Feature[],
    like?: Feature,
  ): Promise<void> => {
    // A parent's row knows nothing of its children, but its state says whether there are some.
    const parents = new Set(features.flatMap((feature) => changedParents(known.get(feature.name), feature)));
    for (const some of inBatches(features)) {
      await lockReferences?.(some.map((after) => ({ before: known.get(after.name), after, like })));
      for (const feature of some) known.set(feature.name, feature);
      await store(some);
    }
    if (parents.size > 0) emitAgain([...parents].sort());
  };

  return {
    /** What was got for update, by name. */
    seen,

    /** The feature of that name in that project, with what a request may speak of: one statement. */
    getForUpdate: async (project: string, name: string, { texts, numbers }: References = nobody): Promise<Found> => {
      const [row] = await query<Loaded>(getForUpdate, [name, project, texts, numbers]);
      if (row === undefined) throw await missingFeature(query, project, name);
      const feature = remembered(row);
      guard.cacheProtected(feature.project, row.guarded);
      return { feature, surroundings: surroundingsOf(row.surroundings, hidden) };
    },

    /** The feature of that name in whichever project. */
    findForUpdate: async (name: string): Promise<Feature | undefined> => (await find(findForUpdate, name))[0],
    /** The features of those names that there are, in whichever project: locked in the order of their names. */
    findAllForUpdate: (names: readonly string[]): Promise<Feature[]> => find(findAllForUpdate, names),
    /** The features of those names that there are, in whichever project, and those that they depend on: locked in the order of their names. Of one project alone, if it is given. */
    findFamiliesForUpdate: (names: readonly string[], project?: string): Promise<Feature[]> =>
      find(findFamiliesForUpdate, names, project ?? null),
    /** The same, to be looked at and not to be changed: none is locked. Of every other project alone, if one is given. */
    findFamilies: async (names: readonly string[], besides?: string): Promise<Feature[]> =>
      (await query<FoundRow>(findFamilies, [names, besides ?? null])).map(({ feature }) => featureOf(feature)),

    /** The feature, with those that it depends on locked as well: they change with what it depends on. */
    getFamilyForUpdate: async (project: string, name: string): Promise<Feature> => {
      const found = (await find(findFamiliesForUpdate, [name], null)).find((feature) => feature.name === name);
      if (found === undefined) throw notFound('No feature flag found');
      if (found.project !== project) throw await missingFeature(query, project, name);
      return found;
    },

    /** The names of the active features that depend on one that is locked. */
    childrenOf: async (name: string): Promise<string[]> =>
      (await query<{ name: string }>(children, [name])).map((row) => row.name),

    /** Stores new features, and tells their states. What a feature that is locked speaks of, one that is like it may speak of too. */
    add: async (features: readonly Feature[], like?: Feature): Promise<void> => {
      try {
        await write(inserted, features, like);
      } catch (error) {
        if (violatedConstraint(error) !== 'feature_pkey') throw error;
        const [only, ...others] = features;
        const which = others.length === 0 && only !== undefined ? `Feature ${only.name}` : 'One of the features';
        throw refusal('NameExistsError', `${which} already exists`);
      }
    },

    /** Stores what became of features that were got for update, and tells their states; those that stayed the same are left alone. */
    save: async (features: readonly Feature[]): Promise<void> => {
      for (const after of features) {
        const before = known.get(after.name);
        if (before !== undefined && before !== after) await guard.checkEdit(before, after);
      }
      await write(
        updated,
        features.filter((feature) => known.get(feature.name) !== feature),
      );
    },

    /** Emits the current states of features, after a change of what surrounds them, such as an environment of their project. */
    emitStates: (names: readonly string[]): void => {
      for (const some of inBatches(names)) emitAgain(some);
    },

    /** Removes features that were got for update, with all that belongs to them, and tells that they are gone. */
    remove: async (features: readonly Feature[]): Promise<void> => {
      for (const some of inBatches(features)) {
        const names = some.map(({ name }) => name);
        for (const { name, version } of await query<{ name: string; version: number }>(remove, [names])) {
          const gone = seen.get(name);
          if (gone !== undefined) gone.after = undefined;
          outbox.state({ entity: 'feature', id: name, version, state: null });
        }
      }
    },
  };
};
export type FeatureRepository = ReturnType<typeof featureRepository>;
