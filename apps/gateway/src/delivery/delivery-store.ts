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

/** What an SDK evaluates of a feature in one environment. */
export interface Part {
  /** the position of the row that last changed it */
  position: number;
  /** JSON members: `"enabled":…,"strategies":…,"variants":…` */
  json: string;
  /** the ids of the segments that its strategies use, each once */
  segments: readonly number[];
}

/** A feature as JSON text in three parts, of which the one in the middle differs between environments. */
export interface StoredFeature {
  readonly name: string;
  project: string;
  isArchived: boolean;
  /** `<type>:<value>` each */
  tags: readonly string[];
  /** the position of the row that last changed anything outside of `parts` */
  position: number;
  head: string;
  tail: string;
  readonly parts: Map<string, Part>;
}

export interface StoredSegment {
  readonly id: number;
  position: number;
  /** undefined once it is deleted */
  json: string | undefined;
  /** a JSON list without its brackets */
  constraints: string;
}

/** A feature that a project had once: SDKs of that project remove it. */
export interface FormerFeature {
  readonly name: string;
  readonly project: string;
  readonly position: number;
}

/** One entity that changed; the newest change of each counts. */
export type Change =
  | { readonly position: number; readonly feature: StoredFeature }
  | { readonly position: number; readonly segment: StoredSegment }
  | { readonly position: number; readonly former: FormerFeature }
  /** something that may concern every scope: an environment, or what belongs to it */
  | { readonly position: number; readonly environment: string };

const noSegments: readonly number[] = [];
const nothingSet = '"enabled":false,"strategies":[],"variants":[]';
const emptyPart: Part = { position: 0, json: nothingSet, segments: noSegments };
/** How many changes are looked through one by one; a reader that is further behind looks through everything. */
const recentChangesLimit = 20_000;
/** How many entities that are gone are kept for SDKs that may have them: some 40 MiB. SDKs that know only older revisions get everything. */
const defaultMaxRemoved = 100_000;

/** The members of an object as JSON, without its braces. */
const membersOf = (value: object): string => JSON.stringify(value).slice(1, -1);

const segmentsOf = (strategies: readonly ClientStrategy[]): readonly number[] => {
  const ids = new Set(strategies.flatMap(({ segments = [] }) => segments));
  return ids.size === 0 ? noSegments : [...ids];
};

/** Byte order, as PostgreSQL sorts names by `collate "C"`. */
const compareBytes = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/**
 * Everything that SDKs evaluate, in the memory of this process, as JSON text with the position of the outbox row that last changed it. It
 * is changed by outbox rows alone, in their order, so that every replica has the same at the same position.
 */
export const deliveryStore = ({ maxRemoved = defaultMaxRemoved }: { readonly maxRemoved?: number } = {}) => {
  const environments = new Map<string, DeliveryStates['environment']>();
  /** by environment: the projects that have it */
  const projectsWith = new Map<string, Set<string>>();
  const features = new Map<string, StoredFeature>();
  const ofProject = new Map<string, Set<StoredFeature>>();
  const segments = new Map<number, StoredSegment>();
  const formers = new Map<string, FormerFeature>();
  let names: string[] = [];
  let isSorted = true;
  let recent: Change[] = [];
  /** changes up to this position are no longer in `recent` */
  let recentAfter = 0;
  let position = 0;
  /** counts resets: what was derived before one is worthless after it */
  let epoch = 0;
  /** for revisions below it there is no delta: they belong to another history, or what was removed since is not kept */
  let historyFrom = 0;
  let isReset = false;
  /** removals since the last count of what is gone */
  let uncounted = 0;

  const changed = (change: Change): void => {
    recent.push(change);
    if (recent.length <= 2 * recentChangesLimit) return;
    recentAfter = recent[recent.length - recentChangesLimit - 1]?.position ?? position;
    recent = recent.slice(-recentChangesLimit);
  };

  const addName = (name: string): void => {
    const last = names.at(-1);
    if (last !== undefined && compareBytes(last, name) > 0) isSorted = false;
    names.push(name);
  };
  const sortedNames = (): readonly string[] => {
    if (!isSorted) {
      names.sort(compareBytes);
      isSorted = true;
    }
    return names;
  };

  const isConnected = (project: string, environment: string): boolean =>
    projectsWith.get(environment)?.has(project) === true;

  const partOf = (feature: StoredFeature, environment: string): Part => {
    const part = feature.parts.get(environment);
    return part !== undefined && isConnected(feature.project, environment) ? part : emptyPart;
  };

  const applyFeature = (at: number, name: string, state: DeliveredFeature | null): void => {
    const before = features.get(name);
    if (state === null) {
      if (before === undefined) return;
      features.delete(name);
      ofProject.get(before.project)?.delete(before);
      names.splice(names.indexOf(name), 1);
      return;
    }
    const feature: StoredFeature = before ?? {
      ...{ name, project: state.project, isArchived: true, tags: [], position: at, head: '', tail: '' },
      parts: new Map<string, Part>(),
    };
    if (before === undefined) {
      features.set(name, feature);
      addName(name);
    }
    const { project } = state;
    if (before === undefined || before.project !== project) {
      ofProject.get(feature.project)?.delete(feature);
      const siblings = ofProject.get(project) ?? new Set<StoredFeature>();
      ofProject.set(project, siblings.add(feature));
    }
    if (state.archived) {
      Object.assign(feature, { project, isArchived: true, position: at, head: '', tail: '', tags: [] });
      feature.parts.clear();
      uncounted++;
      return changed({ position: at, feature });
    }
    const { type, description, stale, impressionData, dependencies } = state;
    const head = `{${membersOf({ name, type, project, description, stale, impressionData })},`;
    const tail = dependencies.length === 0 ? '}' : `,"dependencies":${JSON.stringify(dependencies)}}`;
    const tags = state.tags.map((tag) => `${tag.type}:${tag.value}`);
    const isSame = head === feature.head && tail === feature.tail && tags.join('\n') === feature.tags.join('\n');
    if (!isSame || feature.isArchived) {
      Object.assign(feature, { project, isArchived: false, position: at, head, tail, tags });
    }
    for (const [environment, it] of Object.entries(state.environments)) {
      const json = membersOf({ enabled: it.enabled, strategies: it.strategies, variants: it.variants });
      const part = feature.parts.get(environment);
      if (part === undefined && json === nothingSet) continue;
      if (part?.json !== json)
        feature.parts.set(environment, { position: at, json, segments: segmentsOf(it.strategies) });
    }
    for (const [environment, part] of feature.parts) {
      if (environment in state.environments || part.json === nothingSet) continue;
      feature.parts.set(environment, { position: at, json: nothingSet, segments: noSegments });
    }
    changed({ position: at, feature });
  };

  const applySegment = (at: number, id: number, state: DeliveryStates['segment'] | null): void => {
    const segment: StoredSegment = segments.get(id) ?? { id, position: at, json: undefined, constraints: '' };
    segments.set(id, segment);
    segment.position = at;
    segment.json =
      state === null ? undefined : JSON.stringify({ id, name: state.name, constraints: state.constraints });
    segment.constraints = state === null ? '' : JSON.stringify(state.constraints).slice(1, -1);
    if (state === null) uncounted++;
    changed({ position: at, segment });
  };

  const connect = (at: number, project: string, environment: string, isOn: boolean): void => {
    const projects = projectsWith.get(environment) ?? new Set<string>();
    projectsWith.set(environment, projects);
    if (projects.has(project) === isOn) return;
    if (isOn) projects.add(project);
    else projects.delete(project);
    for (const feature of ofProject.get(project) ?? []) {
      const part = feature.parts.get(environment);
      if (part === undefined) continue;
      // What it has there counts from now on, or no longer.
      feature.parts.set(environment, { ...part, position: at });
      changed({ position: at, feature });
    }
  };

  const appliers: {
    readonly [E in DeliveryEntity]: (at: number, id: string, state: DeliveryStates[E] | null) => void;
  } = {
    feature: applyFeature,
    segment: (at, id, state) => applySegment(at, Number(id), state),
    environment: (at, id, state) => {
      if (state === null) environments.delete(id);
      else environments.set(id, state);
      changed({ position: at, environment: id });
    },
    'project-environment': (at, id, state) => {
      const [project = '', environment = ''] = id.split(' ', 2);
      connect(at, project, environment, state !== null);
    },
    'former-feature': (at, id, state) => {
      if (state === null) return;
      const former = { ...state, position: at };
      formers.set(id, former);
      uncounted++;
      changed({ position: at, former });
    },
  };

  /** Drops what was removed first, when too much of what is gone is kept. */
  const limitRemoved = (): void => {
    if (uncounted <= maxRemoved / 4) return;
    uncounted = 0;
    const gone = [
      ...[...features.values()].filter(({ isArchived }) => isArchived),
      ...[...segments.values()].filter(({ json }) => json === undefined),
      ...formers.values(),
    ];
    if (gone.length <= maxRemoved) return;
    const upTo = gone.map((one) => one.position).sort((one, other) => other - one)[maxRemoved] as number;
    for (const [name, feature] of features) {
      if (!feature.isArchived || feature.position > upTo) continue;
      features.delete(name);
      ofProject.get(feature.project)?.delete(feature);
    }
    names = names.filter((name) => features.has(name));
    for (const [id, { json, position: at }] of segments) if (json === undefined && at <= upTo) segments.delete(id);
    for (const [id, { position: at }] of formers) if (at <= upTo) formers.delete(id);
    historyFrom = Math.max(historyFrom, upTo);
  };

  return {
    apply: (messages: readonly OutboxMessage[], upTo: number, isComplete: boolean): void => {
      for (const message of messages) {
        const { entity, id, state } = message.payload as DeliveryState;
        const apply = appliers[entity] as (at: number, id: string, state: unknown) => void;
        apply(message.position, id, state);
      }
      position = upTo;
      limitRemoved();
      if (!isReset || !isComplete) return;
      historyFrom = upTo;
      isReset = false;
    },
    /** Drops everything; what is applied next is another history. */
    reset: (): void => {
      for (const map of [environments, projectsWith, features, ofProject, segments, formers]) map.clear();
      names = [];
      recent = [];
      recentAfter = 0;
      position = 0;
      isReset = true;
      epoch++;
    },
    get epoch() {
      return epoch;
    },
    get historyFrom() {
      return historyFrom;
    },
    /** False from a reset until everything is applied that the producer had then: what is there until then is a part. */
    get isWhole() {
      return !isReset;
    },
    get position() {
      return position;
    },
    hasEnvironment: (name: string): boolean => environments.has(name),
    /**
     * The environment of a request: that of its token, else the named one. Without a name, or with `default` where no environment is called
     * that, it is the first enabled one. Undefined where there is no such environment.
     */
    environmentOf: (caller: Caller, named = 'default'): string | undefined => {
      const wanted = boundEnvironment(caller) ?? named;
      if (environments.has(wanted)) return wanted;
      if (boundEnvironment(caller) !== undefined || named !== 'default') return undefined;
      const [first] = [...environments.values()]
        .filter(({ enabled }) => enabled)
        .sort((one, other) => one.sortOrder - other.sortOrder || compareBytes(one.name, other.name));
      return first?.name;
    },
    feature: (name: string): StoredFeature | undefined => features.get(name),
    segment: (id: number): StoredSegment | undefined => segments.get(id),
    segments: (): Iterable<StoredSegment> => segments.values(),
    formers: (): Iterable<FormerFeature> => formers.values(),
    /** The features in the order of their names. */
    *features(): Generator<StoredFeature> {
      for (const name of sortedNames()) yield features.get(name) as StoredFeature;
    },
    /** The changes after a position, oldest first; undefined where that is too long ago. */
    changesAfter: (after: number): readonly Change[] | undefined => {
      if (after < recentAfter) return undefined;
      let [low, high] = [0, recent.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((recent[middle] as Change).position > after) high = middle;
        else low = middle + 1;
      }
      return recent.slice(low);
    },
    partOf,
    /** The position of the row that last changed what SDKs evaluate of a feature in an environment. */
    positionOf: (feature: StoredFeature, environment: string): number =>
      Math.max(feature.position, feature.parts.get(environment)?.position ?? 0),
  };
};
export type DeliveryStore = ReturnType<typeof deliveryStore>;
