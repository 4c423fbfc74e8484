import type { ClientStrategy, DeliveredFeature, FeatureFieldsFor } from '@bunting/contracts';
import { LRUCache } from 'lru-cache';

/** The part of a feature that an SDK evaluates in one environment. */
export interface EnvironmentPart {
  readonly environment: string;
  /** the position of the row that last changed it */
  readonly position: number;
  /** a JSON object: `{"enabled":…,"strategies":…,"variants":…}` */
  readonly json: string;
  /** the ids of the segments that its strategies use, each once */
  readonly segments: readonly number[];
}

/** A feature as JSON text in pieces, which the store keeps as they are: an edge has no second copy of what its origin delivered. */
export interface FeatureText {
  readonly name: string;
  readonly project: string;
  /** `<type>:<value>` each */
  readonly tags: readonly string[];
  /** a JSON object of what is the same in all environments, but the dependencies */
  readonly common: string;
  /** a JSON list; empty without dependencies */
  readonly dependencies: string;
  readonly parts: readonly Omit<EnvironmentPart, 'position'>[];
}

/** A feature as JSON text in pieces. A change replaces them. */
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
  /** as in `FeatureText`; empty while it is archived */
  common: string;
  dependencies: string;
  /** a list, since a feature has few: a map for each feature takes several times as much memory */
  parts: readonly EnvironmentPart[];
}

type ArchivedFeature = Extract<DeliveredFeature, { readonly archived: true }>;
type LiveFeature = Exclude<DeliveredFeature, ArchivedFeature>;

const noTags: readonly string[] = [];
const noParts: readonly EnvironmentPart[] = [];
const noSegments: readonly number[] = [];
const emptyPartJson = '{"enabled":false,"strategies":[],"variants":[]}';
/** What SDKs evaluate of a feature in an environment in which it was never set up. */
export const emptyPart: EnvironmentPart = { environment: '', position: 0, json: emptyPartJson, segments: noSegments };

/** What a feature has in an environment; undefined where it was never set up. */
export function partIn({ parts }: Pick<FeatureEntry, 'parts'>, environment: string): EnvironmentPart | undefined {
  for (const part of parts) if (part.environment === environment) return part;
  return undefined;
}

/** Replaces the part of one environment. */
export function setPart(feature: FeatureEntry, part: EnvironmentPart): void {
  const others = feature.parts.filter(({ environment }) => environment !== part.environment);
  // Not by spreading them into one, which reserves room for 17.
  feature.parts = others.length === 0 ? [part] : others.concat([part]);
}

/** What the JSON of a feature in an environment is made of, as the store has it: `common`, the part, and `dependencies`. */
export type FeatureTexts = readonly [common: string, part: string, dependencies: string];

const dependenciesKey = ',"dependencies":';

export function featureJson([common, part, dependencies]: FeatureTexts): string {
  const end = dependencies === '' ? '}' : `${dependenciesKey}${dependencies}}`;
  return `${common.slice(0, -1)},${part.slice(1, -1)}${end}`;
}

/** The length of the JSON of a feature in bytes. */
export function featureLength([common, part, dependencies]: FeatureTexts): number {
  const end = dependencies === '' ? 0 : dependenciesKey.length + Buffer.byteLength(dependencies);
  return Buffer.byteLength(common) + Buffer.byteLength(part) - 1 + end;
}

const comma = 0x2c;

/** Writes the JSON of a feature, without joining it to a text first. @returns the offset after it */
export function writeFeature([common, part, dependencies]: FeatureTexts, bytes: Buffer, offset: number): number {
  // Each of the objects takes the place of the brace that ends the one before; its own first brace becomes a comma.
  const partAt = offset + bytes.write(common, offset) - 1;
  const end = partAt + bytes.write(part, partAt);
  bytes[partAt] = comma;
  if (dependencies === '') return end;
  return end - 1 + bytes.write(`${dependenciesKey}${dependencies}}`, end - 1);
}

function segmentIdsOf(strategies: readonly ClientStrategy[]): readonly number[] {
  const ids = new Set(strategies.flatMap(({ segments = [] }) => segments));
  return ids.size === 0 ? noSegments : [...ids];
}

function partText(
  environment: string,
  { enabled, strategies, variants }: LiveFeature['environments'][string],
): FeatureText['parts'][number] {
  const json = JSON.stringify({ enabled, strategies, variants });
  return { environment, json: json === emptyPartJson ? emptyPartJson : json, segments: segmentIdsOf(strategies) };
}

/** Many features have the same tags: the text of each is in memory once. */
const tagTexts = new LRUCache<string, string>({ max: 10_000 });

function tagText({ type, value }: LiveFeature['tags'][number]): string {
  const text = `${type}:${value}`;
  const known = tagTexts.get(text);
  if (known === undefined) tagTexts.set(text, text);
  return known ?? text;
}

/** The text of a feature, as SDKs get it, with members besides those of the contract. */
export function featureText(state: LiveFeature, more: object = {}): FeatureText {
  const { name, project, type, description, stale, impressionData, dependencies } = state;
  // By name, not from the table of fields, which takes 10 % more CPU for each row; a field of the table that is missing does not compile.
  const members = { name, type, project, description, stale, impressionData };
  return {
    name,
    project,
    tags: state.tags.length === 0 ? noTags : state.tags.map(tagText),
    common: JSON.stringify({ ...(members satisfies Required<FeatureFieldsFor<'servers'>>), ...more }),
    dependencies: dependencies.length === 0 ? '' : JSON.stringify(dependencies),
    parts: Object.entries(state.environments).map(([environment, setting]) => partText(environment, setting)),
  };
}

/** An entry without content, to be written by `writeFeatureEntry`. */
export function newFeatureEntry(name: string, project: string, position: number): FeatureEntry {
  // Not by spreading, which makes an object whose members take twice the memory.
  return {
    name,
    project,
    isArchived: true,
    tags: noTags,
    position,
    evaluatedPosition: position,
    tagsPosition: position,
    common: '',
    dependencies: '',
    parts: noParts,
  };
}

function writeArchived(entry: FeatureEntry, { project }: ArchivedFeature, position: number): void {
  const positions = { position, evaluatedPosition: position, tagsPosition: position };
  const content = { common: '', dependencies: '', tags: noTags, parts: noParts };
  Object.assign(entry, { project, isArchived: true, ...positions, ...content });
}

/** The members of an entry that the result for a user depends on. */
function evaluatedMembersIn(common: string): string {
  const { project, impressionData } = JSON.parse(common) as LiveFeature;
  return JSON.stringify({ project, impressionData });
}

/** Writes all of a feature but its parts. */
function writeCommon(
  entry: FeatureEntry,
  { project, tags, common, dependencies }: FeatureText,
  position: number,
): void {
  if (tags.join('\n') !== entry.tags.join('\n')) Object.assign(entry, { tags, tagsPosition: position });
  if (common === entry.common && dependencies === entry.dependencies && !entry.isArchived) return;
  const isSameForUsers =
    !entry.isArchived &&
    dependencies === entry.dependencies &&
    evaluatedMembersIn(common) === evaluatedMembersIn(entry.common);
  if (!isSameForUsers) entry.evaluatedPosition = position;
  Object.assign(entry, { project, isArchived: false, position, common, dependencies });
}

function writeParts(entry: FeatureEntry, { parts }: FeatureText, position: number): void {
  for (const { environment, json, segments } of parts) {
    const part = partIn(entry, environment);
    if (part === undefined && json === emptyPartJson) continue;
    if (part?.json !== json) setPart(entry, { environment, position, json, segments });
  }
  for (const { environment, json } of entry.parts) {
    if (json === emptyPartJson || parts.some((text) => text.environment === environment)) continue;
    setPart(entry, { ...emptyPart, environment, position });
  }
}

/** Writes the state of a row into the entry of its feature. Only the pieces that differ get the position of the row. */
export function writeFeatureEntry(entry: FeatureEntry, state: DeliveredFeature | FeatureText, position: number): void {
  if ('archived' in state && state.archived) return writeArchived(entry, state, position);
  const text = 'common' in state ? state : featureText(state);
  writeCommon(entry, text, position);
  writeParts(entry, text, position);
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
