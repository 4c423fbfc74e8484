import { type ClientFeature, type ClientSegment, type ClientSegmentList, maxSegmentListSize } from '@bunting/contracts';
import { OriginError } from './origin-error.ts';

/** The features and segments that an origin delivers at a revision. */
export interface Contents<F> {
  readonly revision: number;
  readonly features: ReadonlyMap<string, F>;
  readonly segments: ReadonlyMap<number, ClientSegment>;
  /** that of the full answer that they are from; null after a delta */
  readonly entityTag: string | null;
}

type Json = Readonly<Record<string, unknown>>;
interface Named {
  readonly name: string;
}
/** How a feature of an answer is kept. @throws OriginError `unusable` */
type ReadFeature<F> = (value: unknown) => F;

/** Deeper than any flag; values that are much deeper exhaust the stack where they are serialised. */
const maxDepth = 64;

function unusable(what: string): OriginError {
  return new OriginError('unusable', `its answer is unusable: ${what}`);
}

function objectOf(value: unknown, what: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unusable(`${what} is no object`);
  return value as Json;
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw unusable(`${what} is no list`);
  return value;
}

function nameOf(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw unusable(`the name of ${what} is missing`);
  return value;
}

function requireFlat(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth === maxDepth) throw unusable(`it is nested more than ${maxDepth} deep`);
  for (const member of Array.isArray(value) ? value : Object.values(value)) requireFlat(member, depth + 1);
}

function revisionOf(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw unusable('its revision is no number');
  return value as number;
}

function readConstraint(value: unknown): Json {
  const constraint = objectOf(value, 'a constraint');
  nameOf(constraint['contextName'], 'the field of a constraint');
  nameOf(constraint['operator'], 'the operator of a constraint');
  const values = listOf(constraint['values'], 'the values of a constraint');
  if (constraint['values'] === undefined) return constraint;
  return { ...constraint, values: values.map(String) };
}

function readConstraints(value: unknown): readonly Json[] {
  return listOf(value, 'the constraints').map(readConstraint);
}

function readStrategy(value: unknown): Json {
  const strategy = objectOf(value, 'a strategy');
  const parameters = objectOf(strategy['parameters'] ?? {}, 'the parameters of a strategy');
  const segments = listOf(strategy['segments'], 'the segments of a strategy');
  if (!segments.every(Number.isSafeInteger)) throw unusable('the id of a segment is no number');
  return {
    ...strategy,
    ...('segments' in strategy ? { segments } : {}),
    name: nameOf(strategy['name'], 'a strategy'),
    constraints: readConstraints(strategy['constraints']),
    parameters: Object.fromEntries(Object.entries(parameters).map(([name, text]) => [name, String(text)])),
    variants: readVariants(strategy['variants']),
  };
}

function readVariants(value: unknown): readonly Json[] {
  return listOf(value, 'the variants').map((value) => {
    const variant = objectOf(value, 'a variant');
    nameOf(variant['name'], 'a variant');
    const { weight = 0 } = variant;
    if (typeof weight !== 'number') throw unusable('the weight of a variant is no number');
    if (!('overrides' in variant)) return { ...variant, weight };
    const overrides = listOf(variant['overrides'], 'the overrides of a variant').map((value) => {
      const override = objectOf(value, 'an override');
      const contextName = nameOf(override['contextName'], 'the field of an override');
      return { ...override, contextName, values: listOf(override['values'], 'the values of an override').map(String) };
    });
    return { ...variant, weight, overrides };
  });
}

function readDependency(value: unknown): Json {
  const dependency = objectOf(value, 'a dependency');
  nameOf(dependency['feature'], 'the feature of a dependency');
  return 'variants' in dependency
    ? { ...dependency, variants: listOf(dependency['variants'], 'the variants of a dependency').map(String) }
    : dependency;
}

/** A feature as an SDK reads it: what is missing has its initial value, and what is unknown is kept. @throws OriginError `unusable` */
export function readFeature(value: unknown): ClientFeature {
  const feature = objectOf(value, 'a feature');
  requireFlat(feature);
  const strategies = listOf(feature['strategies'], 'the strategies').map(readStrategy);
  return {
    ...feature,
    ...('dependencies' in feature
      ? { dependencies: listOf(feature['dependencies'], 'the dependencies').map(readDependency) }
      : {}),
    name: nameOf(feature['name'], 'a feature'),
    type: feature['type'] ?? 'release',
    project: nameOf(feature['project'] ?? 'default', 'the project of a feature'),
    enabled: feature['enabled'] === true,
    stale: feature['stale'] === true,
    strategies,
    variants: readVariants(feature['variants']),
  } as unknown as ClientFeature;
}

function readList(value: unknown, constraints: readonly Json[]): ClientSegmentList {
  const list = objectOf(value, 'the list of a segment');
  const contextName = nameOf(list['contextName'], 'the field of a list');
  const { size, root, sentToServerSdks } = list;
  if (!Number.isSafeInteger(size) || (size as number) < 0 || (size as number) > maxSegmentListSize)
    throw unusable('the size of a list is none');
  if (typeof root !== 'string' || !/^[0-9a-f]{64}$/.test(root)) throw unusable('the root of a list is no hash');
  // Who knows the list leaves the last constraint out.
  const last = constraints.at(-1);
  const isClosed =
    last?.['contextName'] === contextName &&
    last['operator'] === 'IN' &&
    last['inverted'] !== true &&
    listOf(last['values'], 'the values of a constraint').length === 0;
  if (!isClosed) throw unusable('the last constraint of a segment with a list matches somebody');
  const known = { contextName, size: size as number, root };
  return typeof sentToServerSdks === 'boolean' ? { ...known, sentToServerSdks } : known;
}

function readSegment(value: unknown): ClientSegment {
  const { list, ...segment } = objectOf(value, 'a segment');
  requireFlat(segment);
  if (!Number.isSafeInteger(segment['id'])) throw unusable('the id of a segment is no number');
  const constraints = readConstraints(segment['constraints']);
  return {
    ...segment,
    constraints,
    ...(list === undefined || list === null ? {} : { list: readList(list, constraints) }),
  } as unknown as ClientSegment;
}

function readContents<F extends Named>(
  answer: Json,
  { revision, entityTag }: Pick<Contents<F>, 'revision' | 'entityTag'>,
  read: ReadFeature<F>,
): Contents<F> {
  const { features, segments } = answer;
  if (!Array.isArray(features)) throw unusable('it has no list of features');
  return {
    revision,
    entityTag,
    features: new Map(features.map(read).map((feature) => [feature.name, feature])),
    segments: new Map(
      listOf(segments, 'the segments')
        .map(readSegment)
        .map((segment) => [segment.id, segment]),
    ),
  };
}

/** The revision in a tag such as `"76d8bb0e:417:v1"`. */
function revisionInTag(entityTag: string | null): number | undefined {
  const digits = /^(?:W\/)?"[^:"]*:(\d{1,15})(?::[^"]*)?"$/.exec(entityTag ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * The contents in an answer of `/api/client/features`. An origin that names no revision, neither in the answer nor in its tag, has the next
 * one after `held`.
 * @throws OriginError `unusable`
 */
export function readFullAnswer<F extends Named>(
  answer: unknown,
  { entityTag, held }: { readonly entityTag: string | null; readonly held: Contents<F> | undefined },
  read: ReadFeature<F>,
): Contents<F> {
  const body = objectOf(answer, 'it');
  const { meta } = body;
  const named = typeof meta === 'object' && meta !== null ? (meta as Json)['revisionId'] : undefined;
  const revision = named === undefined || named === null ? revisionInTag(entityTag) : revisionOf(named);
  return readContents(body, { revision: revision ?? (held?.revision ?? 0) + 1, entityTag }, read);
}

/** The tag of the answer that the features of an edge came with holds nothing for what a delta has changed. */
function changedBy<F extends Named>(
  event: Json,
  { features, segments }: { readonly features: Map<string, F>; readonly segments: Map<number, ClientSegment> },
  read: ReadFeature<F>,
): boolean {
  switch (event['type']) {
    case 'feature-updated': {
      const feature = read(event['feature']);
      features.set(feature.name, feature);
      return true;
    }
    case 'feature-removed':
      features.delete(nameOf(event['featureName'], 'a removed feature'));
      return true;
    case 'segment-updated': {
      const segment = readSegment(event['segment']);
      segments.set(segment.id, segment);
      return true;
    }
    case 'segment-removed':
      segments.delete(event['segmentId'] as number);
      return true;
    default:
      return false;
  }
}

/**
 * The contents after a list of events, as `/api/client/delta` and the stream send them. Events that `held` already includes are left out.
 * @returns undefined where only the full state can tell: after an event of an unknown type, or events that do not rise
 * @throws OriginError `unusable`
 */
export function readEvents<F extends Named>(
  answer: unknown,
  held: Contents<F> | undefined,
  read: ReadFeature<F>,
): Contents<F> | undefined {
  const { events } = objectOf(answer, 'it');
  if (!Array.isArray(events)) throw unusable('it has no list of events');
  let contents = held;
  let changes: { features: Map<string, F>; segments: Map<number, ClientSegment> } | undefined;
  let last = -1;
  for (const value of events) {
    const event = objectOf(value, 'an event');
    const eventId = revisionOf(event['eventId']);
    if (eventId < last) return undefined;
    last = eventId;
    if (event['type'] === 'hydration') {
      contents = readContents(event, { revision: eventId, entityTag: null }, read);
      changes = undefined;
      continue;
    }
    if (contents === undefined) return undefined;
    if (eventId <= contents.revision) continue;
    changes ??= { features: new Map(contents.features), segments: new Map(contents.segments) };
    if (!changedBy(event, changes, read)) return undefined;
  }
  if (changes === undefined || contents === undefined) return contents;
  return { ...changes, revision: last, entityTag: null };
}

function isSameSegments(one: Contents<unknown>, other: Contents<unknown>): boolean {
  const textOf = ({ segments }: Contents<unknown>): string =>
    JSON.stringify([...segments].sort(([first], [second]) => first - second));
  return one.segments.size === other.segments.size && textOf(one) === textOf(other);
}

/** Whether both have the same features and segments, whatever their order and revision. */
export function isSameContent<F>(
  one: Contents<F>,
  other: Contents<F>,
  isSameFeature: (one: F, other: F) => boolean,
): boolean {
  if (one.features.size !== other.features.size || !isSameSegments(one, other)) return false;
  for (const [name, feature] of one.features) {
    const counterpart = other.features.get(name);
    if (counterpart === undefined || !isSameFeature(feature, counterpart)) return false;
  }
  return true;
}
