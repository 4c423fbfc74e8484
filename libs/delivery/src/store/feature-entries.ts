import type { ClientStrategy, DeliveredFeature, FeatureFieldsFor } from '@bunting/contracts';

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
  /** the position of the row that last changed anything outside of `parts` that SDKs get */
  position: number;
  /** the position of the row that last changed of that what the result for a user depends on, as its description does not */
  evaluatedPosition: number;
  /** the position of the row that last changed its tags, which SDKs do not get, but by which they may choose features */
  tagsPosition: number;
  jsonPrefix: string;
  jsonSuffix: string;
  readonly parts: Map<string, EnvironmentPart>;
}

type ArchivedFeature = Extract<DeliveredFeature, { readonly archived: true }>;
type LiveFeature = Exclude<DeliveredFeature, ArchivedFeature>;

const noSegments: readonly number[] = [];
const emptyPartJson = '"enabled":false,"strategies":[],"variants":[]';
/** What SDKs evaluate of a feature in an environment in which it was never set up. */
export const emptyPart: EnvironmentPart = { position: 0, json: emptyPartJson, segments: noSegments };

/** The members of an object as JSON, without its braces. */
function jsonMembersOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}

function segmentIdsOf(strategies: readonly ClientStrategy[]): readonly number[] {
  const ids = new Set(strategies.flatMap(({ segments = [] }) => segments));
  return ids.size === 0 ? noSegments : [...ids];
}

/** An entry without content, to be written by `writeFeatureEntry`. */
export function newFeatureEntry(name: string, project: string, position: number): FeatureEntry {
  return {
    name,
    project,
    isArchived: true,
    tags: [],
    position,
    evaluatedPosition: position,
    tagsPosition: position,
    jsonPrefix: '',
    jsonSuffix: '',
    parts: new Map<string, EnvironmentPart>(),
  };
}

function writeArchived(entry: FeatureEntry, { project }: ArchivedFeature, position: number): void {
  const positions = { position, evaluatedPosition: position, tagsPosition: position };
  Object.assign(entry, { project, isArchived: true, ...positions, jsonPrefix: '', jsonSuffix: '', tags: [] });
  entry.parts.clear();
}

/** The members of a prefix that the result for a user depends on. */
function evaluatedMembersIn(jsonPrefix: string): string {
  const { project, impressionData } = JSON.parse(`${jsonPrefix.slice(0, -1)}}`) as LiveFeature;
  return JSON.stringify({ project, impressionData });
}

/** Writes all of a feature but its parts. */
function writeCommon(entry: FeatureEntry, state: LiveFeature, position: number): void {
  const { name } = entry;
  const { project, type, description, stale, impressionData, dependencies } = state;
  // By name, not from the table of fields, which takes 10 % more CPU for each row; a field of the table that is missing does not compile.
  const members = { name, type, project, description, stale, impressionData };
  const jsonPrefix = `{${jsonMembersOf(members satisfies Required<FeatureFieldsFor<'servers'>>)},`;
  const jsonSuffix = dependencies.length === 0 ? '}' : `,"dependencies":${JSON.stringify(dependencies)}}`;
  const tags = state.tags.map((tag) => `${tag.type}:${tag.value}`);
  if (tags.join('\n') !== entry.tags.join('\n')) Object.assign(entry, { tags, tagsPosition: position });
  if (jsonPrefix === entry.jsonPrefix && jsonSuffix === entry.jsonSuffix && !entry.isArchived) return;
  const isSameForUsers =
    !entry.isArchived &&
    jsonSuffix === entry.jsonSuffix &&
    evaluatedMembersIn(jsonPrefix) === evaluatedMembersIn(entry.jsonPrefix);
  if (!isSameForUsers) entry.evaluatedPosition = position;
  Object.assign(entry, { project, isArchived: false, position, jsonPrefix, jsonSuffix });
}

function writeParts({ parts }: FeatureEntry, { environments }: LiveFeature, position: number): void {
  for (const [environment, { enabled, strategies, variants }] of Object.entries(environments)) {
    const json = jsonMembersOf({ enabled, strategies, variants });
    const part = parts.get(environment);
    if (part === undefined && json === emptyPartJson) continue;
    if (part?.json !== json) parts.set(environment, { position, json, segments: segmentIdsOf(strategies) });
  }
  for (const [environment, part] of parts) {
    if (Object.hasOwn(environments, environment) || part.json === emptyPartJson) continue;
    parts.set(environment, { ...emptyPart, position });
  }
}

/** Writes the state of a row into the entry of its feature. Only the pieces that differ get the position of the row. */
export function writeFeatureEntry(entry: FeatureEntry, state: DeliveredFeature, position: number): void {
  if (state.archived) return writeArchived(entry, state, position);
  writeCommon(entry, state, position);
  writeParts(entry, state, position);
}

/** By code units: of names, which are ASCII (`urlFriendlyPattern`), that is the order in which PostgreSQL sorts them by `collate "C"`. */
export function compareNames(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Features by name, by project, and in the order of their names. */
export function featureEntryIndex() {
  const byName = new Map<string, FeatureEntry>();
  const byProject = new Map<string, Set<FeatureEntry>>();
  let names: string[] = [];
  let isSorted = true;

  const addToProject = (feature: FeatureEntry): void => {
    const siblings = byProject.get(feature.project) ?? new Set<FeatureEntry>();
    byProject.set(feature.project, siblings.add(feature));
  };
  const removeFromMaps = (feature: FeatureEntry): void => {
    byName.delete(feature.name);
    byProject.get(feature.project)?.delete(feature);
  };
  const sortedNames = (): readonly string[] => {
    if (!isSorted) {
      names.sort(compareNames);
      isSorted = true;
    }
    return names;
  };

  return {
    get: (name: string): FeatureEntry | undefined => byName.get(name),
    all: (): Iterable<FeatureEntry> => byName.values(),
    ofProject: (project: string): Iterable<FeatureEntry> => byProject.get(project) ?? [],
    *inOrderOfNames(): Generator<FeatureEntry> {
      for (const name of sortedNames()) yield byName.get(name) as FeatureEntry;
    },
    add: (feature: FeatureEntry): void => {
      const { name } = feature;
      byName.set(name, feature);
      addToProject(feature);
      const lastName = names.at(-1);
      if (lastName !== undefined && compareNames(lastName, name) > 0) isSorted = false;
      names.push(name);
    },
    /** Moves a feature to a project, which may be its own. */
    move: (feature: FeatureEntry, project: string): void => {
      if (feature.project === project) return;
      byProject.get(feature.project)?.delete(feature);
      feature.project = project;
      addToProject(feature);
    },
    remove: (feature: FeatureEntry): void => {
      removeFromMaps(feature);
      names.splice(names.indexOf(feature.name), 1);
    },
    /** Removes many features with one pass over the names. */
    removeAll: (features: Iterable<FeatureEntry>): void => {
      for (const feature of features) removeFromMaps(feature);
      names = names.filter((name) => byName.has(name));
    },
    clear: (): void => {
      byName.clear();
      byProject.clear();
      names = [];
    },
  };
}
export type FeatureEntryIndex = ReturnType<typeof featureEntryIndex>;
