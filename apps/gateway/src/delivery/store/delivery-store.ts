import {
  type Caller,
  type ClientStrategy,
  boundEnvironment,
  type DeliveredFeature,
  type DeliveryEntity,
  type DeliveryState,
  type DeliveryStates,
  type OutboxMessage,
} from '@bunting/contracts';

/** The part of a feature that an SDK evaluates in one environment. */
export interface EnvironmentPart {
  /** the position of the row that last changed it */
  position: number;
  /** JSON members: `"enabled":…,"strategies":…,"variants":…` */
  json: string;
  /** the ids of the segments that its strategies use, each once */
  segments: readonly number[];
}

/** A feature as JSON text in three pieces: `jsonPrefix`, the part of one environment, and `jsonSuffix`. */
export interface FeatureEntry {
  readonly name: string;
  project: string;
  isArchived: boolean;
  /** `<type>:<value>` each */
  tags: readonly string[];
  /** the position of the row that last changed anything outside of `parts` */
  position: number;
  jsonPrefix: string;
  jsonSuffix: string;
  readonly parts: Map<string, EnvironmentPart>;
}

export interface SegmentEntry {
  readonly id: number;
  position: number;
  /** undefined once it is deleted */
  json: string | undefined;
  /** a JSON array without its brackets */
  constraints: string;
}

/** A feature that was deleted from a project or moved to another: SDKs of the first project remove it. */
export interface FormerFeature {
  readonly name: string;
  readonly project: string;
  readonly position: number;
}

/** A change of an entity; the entity has the state after its newest change. */
export type EntityChange =
  | { readonly position: number; readonly feature: FeatureEntry }
  | { readonly position: number; readonly segment: SegmentEntry }
  | { readonly position: number; readonly former: FormerFeature }
  /** a change of an environment or its projects, which may concern every scope */
  | { readonly position: number; readonly environment: string };

const noSegments: readonly number[] = [];
const emptyPartJson = '"enabled":false,"strategies":[],"variants":[]';
const emptyPart: EnvironmentPart = { position: 0, json: emptyPartJson, segments: noSegments };
/** Maximum number of recent changes; a reader with an older position scans all entities. */
const recentChangesLimit = 20_000;
/** Maximum number of deleted entities that are retained for deltas: some 40 MiB. An SDK from before those gets the full state. */
const defaultMaxRemoved = 100_000;

/** The members of an object as JSON, without its braces. */
const jsonMembersOf = (value: object): string => JSON.stringify(value).slice(1, -1);

const segmentIdsOf = (strategies: readonly ClientStrategy[]): readonly number[] => {
  const ids = new Set(strategies.flatMap(({ segments = [] }) => segments));
  return ids.size === 0 ? noSegments : [...ids];
};

/** By code units: of names, which are ASCII (`urlFriendlyPattern`), that is the order in which PostgreSQL sorts them by `collate "C"`. */
const compareNames = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/**
 * Everything that SDKs evaluate, in the memory of this process, as JSON text with the position of the outbox row that last changed it. It
 * is changed by outbox rows alone, in their order, so that every replica has the same at the same position.
 */
export const deliveryStore = ({ maxRemoved = defaultMaxRemoved }: { readonly maxRemoved?: number } = {}) => {
  const environments = new Map<string, DeliveryStates['environment']>();
  /** by environment: the projects that have it */
  const projectsWith = new Map<string, Set<string>>();
  const features = new Map<string, FeatureEntry>();
  const featuresByProject = new Map<string, Set<FeatureEntry>>();
  const segments = new Map<number, SegmentEntry>();
  const formerFeatures = new Map<string, FormerFeature>();
  let names: string[] = [];
  let isSorted = true;
  let recentChanges: EntityChange[] = [];
  /** changes up to this position are no longer in `recentChanges` */
  let recentAfter = 0;
  let position = 0;
  /** the number of resets: whatever was derived before the newest one is invalid */
  let epoch = 0;
  /**
   * the lowest revision that a delta can begin at: earlier ones are from before a backup was restored, or removals after them were pruned
   */
  let historyFrom = 0;
  /** whether the store was reset and has not yet applied every row that the producer had then */
  let isIncomplete = false;
  /** removals since deleted entities were last pruned */
  let removalsSincePrune = 0;

  const recordChange = (change: EntityChange): void => {
    recentChanges.push(change);
    if (recentChanges.length <= 2 * recentChangesLimit) return;
    recentAfter = recentChanges[recentChanges.length - recentChangesLimit - 1]?.position ?? position;
    recentChanges = recentChanges.slice(-recentChangesLimit);
  };

  const addName = (name: string): void => {
    const lastName = names.at(-1);
    if (lastName !== undefined && compareNames(lastName, name) > 0) isSorted = false;
    names.push(name);
  };
  const sortedNames = (): readonly string[] => {
    if (!isSorted) {
      names.sort(compareNames);
      isSorted = true;
    }
    return names;
  };

  const isConnected = (project: string, environment: string): boolean =>
    projectsWith.get(environment)?.has(project) === true;

  const partOf = (feature: FeatureEntry, environment: string): EnvironmentPart => {
    const part = feature.parts.get(environment);
    return part !== undefined && isConnected(feature.project, environment) ? part : emptyPart;
  };

  const applyFeature = (rowPosition: number, name: string, state: DeliveredFeature | null): void => {
    const before = features.get(name);
    if (state === null) {
      if (before === undefined) return;
      features.delete(name);
      featuresByProject.get(before.project)?.delete(before);
      names.splice(names.indexOf(name), 1);
      return;
    }
    const feature: FeatureEntry = before ?? {
      name,
      project: state.project,
      isArchived: true,
      tags: [],
      position: rowPosition,
      jsonPrefix: '',
      jsonSuffix: '',
      parts: new Map<string, EnvironmentPart>(),
    };
    if (before === undefined) {
      features.set(name, feature);
      addName(name);
    }
    const { project } = state;
    if (before === undefined || before.project !== project) {
      featuresByProject.get(feature.project)?.delete(feature);
      const siblings = featuresByProject.get(project) ?? new Set<FeatureEntry>();
      featuresByProject.set(project, siblings.add(feature));
    }
    if (state.archived) {
      Object.assign(feature, {
        project,
        isArchived: true,
        position: rowPosition,
        jsonPrefix: '',
        jsonSuffix: '',
        tags: [],
      });
      feature.parts.clear();
      removalsSincePrune++;
      return recordChange({ position: rowPosition, feature });
    }
    const { type, description, stale, impressionData, dependencies } = state;
    const jsonPrefix = `{${jsonMembersOf({ name, type, project, description, stale, impressionData })},`;
    const jsonSuffix = dependencies.length === 0 ? '}' : `,"dependencies":${JSON.stringify(dependencies)}}`;
    const tags = state.tags.map((tag) => `${tag.type}:${tag.value}`);
    const isUnchanged =
      jsonPrefix === feature.jsonPrefix &&
      jsonSuffix === feature.jsonSuffix &&
      tags.join('\n') === feature.tags.join('\n');
    if (!isUnchanged || feature.isArchived) {
      Object.assign(feature, { project, isArchived: false, position: rowPosition, jsonPrefix, jsonSuffix, tags });
    }
    for (const [environment, { enabled, strategies, variants }] of Object.entries(state.environments)) {
      const json = jsonMembersOf({ enabled, strategies, variants });
      const part = feature.parts.get(environment);
      if (part === undefined && json === emptyPartJson) continue;
      if (part?.json !== json)
        feature.parts.set(environment, { position: rowPosition, json, segments: segmentIdsOf(strategies) });
    }
    for (const [environment, part] of feature.parts) {
      if (Object.hasOwn(state.environments, environment) || part.json === emptyPartJson) continue;
      feature.parts.set(environment, { position: rowPosition, json: emptyPartJson, segments: noSegments });
    }
    recordChange({ position: rowPosition, feature });
  };

  const applySegment = (rowPosition: number, id: number, state: DeliveryStates['segment'] | null): void => {
    const segment: SegmentEntry = segments.get(id) ?? { id, position: rowPosition, json: undefined, constraints: '' };
    segments.set(id, segment);
    segment.position = rowPosition;
    segment.json =
      state === null ? undefined : JSON.stringify({ id, name: state.name, constraints: state.constraints });
    segment.constraints = state === null ? '' : JSON.stringify(state.constraints).slice(1, -1);
    if (state === null) removalsSincePrune++;
    recordChange({ position: rowPosition, segment });
  };

  /** Adds an environment to a project, or removes it. */
  const setConnected = (rowPosition: number, project: string, environment: string, connected: boolean): void => {
    const projects = projectsWith.get(environment) ?? new Set<string>();
    projectsWith.set(environment, projects);
    if (projects.has(project) === connected) return;
    if (connected) projects.add(project);
    else projects.delete(project);
    for (const feature of featuresByProject.get(project) ?? []) {
      const part = feature.parts.get(environment);
      if (part === undefined) continue;
      // From this position on, SDKs get what the feature has in the environment, or get it no longer.
      feature.parts.set(environment, { ...part, position: rowPosition });
      recordChange({ position: rowPosition, feature });
    }
  };

  const appliers: {
    readonly [E in DeliveryEntity]: (rowPosition: number, id: string, state: DeliveryStates[E] | null) => void;
  } = {
    feature: applyFeature,
    segment: (rowPosition, id, state) => applySegment(rowPosition, Number(id), state),
    environment: (rowPosition, id, state) => {
      if (state === null) environments.delete(id);
      else environments.set(id, state);
      recordChange({ position: rowPosition, environment: id });
    },
    'project-environment': (rowPosition, id, state) => {
      const [project = '', environment = ''] = id.split(' ', 2);
      setConnected(rowPosition, project, environment, state !== null);
    },
    'former-feature': (rowPosition, id, state) => {
      if (state === null) return;
      const former = { ...state, position: rowPosition };
      formerFeatures.set(id, former);
      removalsSincePrune++;
      recordChange({ position: rowPosition, former });
    },
    history: (rowPosition) => {
      historyFrom = rowPosition;
    },
  };

  /** Prunes the oldest deleted entities when there are more than `maxRemoved`. */
  const pruneRemoved = (): void => {
    if (removalsSincePrune <= maxRemoved / 4) return;
    removalsSincePrune = 0;
    const removed = [
      ...[...features.values()].filter(({ isArchived }) => isArchived),
      ...[...segments.values()].filter(({ json }) => json === undefined),
      ...formerFeatures.values(),
    ];
    if (removed.length <= maxRemoved) return;
    const upTo = removed.map((entity) => entity.position).sort((one, other) => other - one)[maxRemoved] as number;
    for (const [name, feature] of features) {
      if (!feature.isArchived || feature.position > upTo) continue;
      features.delete(name);
      featuresByProject.get(feature.project)?.delete(feature);
    }
    names = names.filter((name) => features.has(name));
    for (const [id, { json, position: rowPosition }] of segments)
      if (json === undefined && rowPosition <= upTo) segments.delete(id);
    for (const [id, { position: rowPosition }] of formerFeatures) if (rowPosition <= upTo) formerFeatures.delete(id);
    historyFrom = Math.max(historyFrom, upTo);
  };

  return {
    apply: (messages: readonly OutboxMessage[], upTo: number, isComplete: boolean): void => {
      for (const message of messages) {
        const { entity, id, state } = message.payload as DeliveryState;
        const apply = appliers[entity] as ((rowPosition: number, id: string, state: unknown) => void) | undefined;
        // A newer version of features may write entities that this one does not serve.
        apply?.(message.position, id, state);
      }
      position = upTo;
      pruneRemoved();
      if (!isIncomplete || !isComplete) return;
      historyFrom = upTo;
      isIncomplete = false;
    },
    /**
     * Drops everything, after the producer was restored from a backup: the positions of later rows do not continue those of earlier ones.
     */
    reset: (): void => {
      for (const map of [environments, projectsWith, features, featuresByProject, segments, formerFeatures])
        map.clear();
      names = [];
      recentChanges = [];
      recentAfter = 0;
      position = 0;
      isIncomplete = true;
      epoch++;
    },
    get epoch() {
      return epoch;
    },
    get historyFrom() {
      return historyFrom;
    },
    /** False from a reset until every row that the producer had at the reset is applied: until then the state is partial. */
    get isComplete() {
      return !isIncomplete;
    },
    get position() {
      return position;
    },
    hasEnvironment: (name: string): boolean => environments.has(name),
    /**
     * The environment of a request: that of its token, else the requested one. Without a name, or with `default` where no environment is
     * called that, it is the first enabled one. Undefined where there is no such environment.
     */
    environmentOf: (caller: Caller, requested = 'default'): string | undefined => {
      const environment = boundEnvironment(caller) ?? requested;
      if (environments.has(environment)) return environment;
      if (boundEnvironment(caller) !== undefined || requested !== 'default') return undefined;
      const [first] = [...environments.values()]
        .filter(({ enabled }) => enabled)
        .sort((one, other) => one.sortOrder - other.sortOrder || compareNames(one.name, other.name));
      return first?.name;
    },
    feature: (name: string): FeatureEntry | undefined => features.get(name),
    segment: (id: number): SegmentEntry | undefined => segments.get(id),
    segments: (): Iterable<SegmentEntry> => segments.values(),
    formerFeatures: (): Iterable<FormerFeature> => formerFeatures.values(),
    /** The features in the order of their names. */
    *features(): Generator<FeatureEntry> {
      for (const name of sortedNames()) yield features.get(name) as FeatureEntry;
    },
    /** The changes after a position, oldest first; undefined where they are no longer retained. */
    changesAfter: (after: number): readonly EntityChange[] | undefined => {
      if (after < recentAfter) return undefined;
      let [low, high] = [0, recentChanges.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((recentChanges[middle] as EntityChange).position > after) high = middle;
        else low = middle + 1;
      }
      return recentChanges.slice(low);
    },
    partOf,
    /** The position of the row that last changed what SDKs evaluate of a feature in an environment. */
    positionOf: (feature: FeatureEntry, environment: string): number =>
      Math.max(feature.position, feature.parts.get(environment)?.position ?? 0),
  };
};
export type DeliveryStore = ReturnType<typeof deliveryStore>;
