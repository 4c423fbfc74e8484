import { featureTypes, type FeatureType } from '@bunting/contracts';
import { normalDependency } from '../dependency.ts';
import { replaceVariants } from '../environments.ts';
import type { Decision, DomainEvent, Feature, Strategy } from '../feature.ts';
import { createFeature, storedFeature } from '../feature-rules.ts';
import { named } from '../refusals.ts';
import { isSame } from '../same.ts';
import {
  inEnvironment,
  normalisedStrategy,
  publicStrategy,
  settled,
  type StrategyContent,
  withEnvironment,
  withStrategies,
} from '../strategy.ts';
import { limits, type SegmentReference, type Surroundings } from '../surroundings.ts';
import { addTag } from '../tag.ts';
import { told } from '../told.ts';
import { requireContextFields, segmentsOf } from './catalogue.ts';
import type { Faults } from './faults.ts';
import type { Entry, FileContent, Placed, StrategyInFile } from './file.ts';
import type { Destination, Importer } from './destination.ts';

/** What the plan for one feature is made with. */
export interface Ground {
  readonly destination: Destination;
  readonly importer: Importer;
  readonly content: FileContent;
  readonly faults: Faults;
  readonly segmentsByName: ReadonlyMap<string, SegmentReference>;
  /** those that are here and those that the file brings along */
  readonly tagTypes: ReadonlySet<string>;
  /** with the context fields that the file brings along */
  readonly surroundings: Surroundings;
  /** ids that strategies of this import got already */
  readonly givenIds: Set<string>;
}

/** What becomes of one feature of the file. */
export interface FeaturePlan extends Decision {
  readonly entry: Entry;
  readonly outcome: 'created' | 'updated' | 'unchanged';
  readonly strategies: number;
  readonly tags: number;
  readonly dependencies: number;
  readonly left: readonly { readonly feature: string; readonly reason: string }[];
}

/** One step of the plan, and how much it wrote. */
interface Step extends Decision {
  readonly written: number;
}

const unchanged = (feature: Feature): Step => ({ feature, events: [], written: 0 });

const isFeatureType = (type: string): type is FeatureType => (featureTypes as readonly string[]).includes(type);

const typeOf = ({ it, path }: Entry['feature'], faults: Faults): FeatureType | undefined => {
  if (it.type === undefined || isFeatureType(it.type)) return it.type;
  faults.missing(`Feature type "${named(it.type)}"`, `${path}/type`, it.name);
  return undefined;
};

/** The feature with the properties of the file: a new one, or the one that is here. */
const withProperties = ({ feature: placed }: Entry, { destination, importer, faults }: Ground): Step | undefined => {
  const { it, path } = placed;
  const { project, naming } = destination;
  const existing = destination.features.get(it.name);
  const type = typeOf(placed, faults);
  if (existing === undefined) {
    const { name, description, stale, impressionData } = it;
    const body = { name, description, stale, impressionData, type };
    const created = faults.unlessRefused(() => createFeature(body, { project, naming, ...importer }, path));
    return created === undefined ? undefined : { ...created, written: 1 };
  }
  if (existing.project !== project) {
    const where = importer.maySee(existing.project) ? `in project "${existing.project}"` : 'already';
    faults.add(`The feature "${named(it.name)}" exists ${where}`, `${path}/name`);
    return undefined;
  }
  const after: Feature = {
    ...existing,
    type: type ?? existing.type,
    description: it.description === undefined ? existing.description : it.description || null,
    stale: it.stale ?? existing.stale,
    impressionData: it.impressionData ?? existing.impressionData,
  };
  if (isSame(after, existing)) return unchanged(existing);
  const event = told('feature-metadata-updated', after, {
    preData: storedFeature(existing),
    data: storedFeature(after),
  });
  return { feature: after, events: [event], written: 1 };
};

const withTags = (feature: Feature, { tags }: Entry, { tagTypes, faults }: Ground): Step => {
  let step = unchanged(feature);
  for (const { it, path } of tags) {
    if (!tagTypes.has(it.type)) faults.missing(`Tag type "${named(it.type)}"`, `${path}/tagType`, feature.name);
    const { feature: after, events } = addTag(step.feature, it);
    step = { feature: after, events: [...step.events, ...events], written: step.written + events.length };
  }
  return step;
};

/** What a strategy of the file says here, with our segments; nothing, when something is wrong with it. */
const contentOf = (placed: Placed<StrategyInFile>, ground: Ground): StrategyContent | undefined => {
  const { it, path } = placed;
  const { surroundings, faults, content, segmentsByName, destination } = ground;
  const constraints = it.constraints ?? [];
  const isTypeKnown = surroundings.strategyTypes.has(it.name);
  if (!isTypeKnown) faults.missing(`Strategy type "${named(it.name)}"`, `${path}/name`, it.featureName);
  const areFieldsKnown = requireContextFields(constraints, surroundings.contextFields, placed, faults);
  const segments = segmentsOf(placed, content.segments, segmentsByName, faults);
  if (!isTypeKnown || !areFieldsKnown) return undefined;
  // Settings are taken as they are: a rollout that nobody named must not become a full one.
  const wanted: StrategyContent = {
    name: it.name,
    title: it.title ?? null,
    disabled: it.disabled ?? false,
    constraints,
    parameters: it.parameters ?? {},
    variants: it.variants ?? [],
    segments,
  };
  return faults.unlessRefused(() =>
    normalisedStrategy(wanted, {
      project: destination.project,
      surroundings,
      at: path,
      distribution: 'keep-complete',
    }),
  );
};

const isUuid = (id: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);

/** The id that the strategy had, if it is a UUID and no other strategy has it; or a new one. */
const idFor = (id: string | undefined, replaced: readonly Strategy[], ground: Ground): string => {
  const { givenIds, importer, destination } = ground;
  const isFree = (wanted: string): boolean =>
    isUuid(wanted) &&
    !givenIds.has(wanted) &&
    (!destination.takenStrategyIds.has(wanted) || replaced.some((strategy) => strategy.id === wanted));
  const given = id !== undefined && isFree(id) ? id : importer.newStrategyId();
  givenIds.add(given);
  return given;
};

const byPlace = ({ it: one }: Placed<StrategyInFile>, { it: other }: Placed<StrategyInFile>): number =>
  (one.sortOrder ?? 0) - (other.sortOrder ?? 0);

const comparable = ({ name, title, disabled, constraints, parameters, variants, segments }: StrategyContent) => ({
  name,
  title,
  disabled,
  constraints,
  parameters,
  variants,
  segments: segments.toSorted((one, other) => one - other),
});

/** The feature with the strategies of the file. Those that say just what they say here keep their identity. */
const withStrategiesOf = (feature: Feature, { strategies: inFile }: Entry, ground: Ground): Step => {
  const { destination, faults } = ground;
  const { environment } = destination;
  const before = inEnvironment(feature, environment).strategies;
  const most = limits.strategiesPerEnvironment;
  if (inFile.length > most) {
    const path = inFile[most]?.path ?? '';
    faults.add(`A feature may not have more than ${most} strategies in an environment`, path);
  }
  const arePlaced = inFile.every(({ it }) => it.sortOrder !== undefined);
  const ordered = arePlaced ? inFile.toSorted(byPlace) : inFile;
  const contents = ordered.map((strategy) => contentOf(strategy, ground));
  if (
    isSame(
      before.map(comparable),
      contents.map((content) => content && comparable(content)),
    )
  )
    return unchanged(feature);

  const after = contents.flatMap((content, index): Strategy[] => {
    const it = ordered[index]?.it;
    if (content === undefined) return [];
    return [{ ...content, id: idFor(it?.id, before, ground), sortOrder: (arePlaced ? it?.sortOrder : index) ?? index }];
  });
  const changed = withStrategies(feature, environment, after);
  const events = [
    ...before.map((strategy) =>
      told('feature-strategy-remove', feature, { environment, preData: publicStrategy(strategy) }),
    ),
    ...inEnvironment(changed, environment).strategies.map((strategy) =>
      told('feature-strategy-add', feature, { environment, data: publicStrategy(strategy) }),
    ),
  ];
  return { feature: changed, events, written: after.length };
};

const withVariants = (feature: Feature, { environment: placed }: Entry, { destination, faults }: Ground): Step => {
  const variants = placed?.it.variants;
  if (variants === undefined) return unchanged(feature);
  const decision = faults.unlessRefused(() =>
    replaceVariants(feature, destination.environment, variants, `${placed?.path}/variants`, 'keep-complete'),
  );
  return decision === undefined ? unchanged(feature) : { ...decision, written: 0 };
};

const notEnabled =
  'It has no strategy in the file, and would be on for everyone: it was not enabled in the environment.';

/** The feature with the switch of the file. One without any strategy is not turned on: the file may have lost them. */
const withSwitch = (feature: Feature, { environment: placed, strategies }: Entry, { destination }: Ground): Step => {
  const { environment } = destination;
  if (placed === undefined) return { ...settled(feature, environment), written: 0 };
  const enabled = placed.it.enabled && strategies.length > 0;
  if (inEnvironment(feature, environment).enabled === enabled) return unchanged(feature);
  const type = enabled ? 'feature-environment-enabled' : 'feature-environment-disabled';
  return {
    feature: withEnvironment(feature, environment, { enabled }),
    events: [told(type, feature, { environment })],
    written: 1,
  };
};

/** The feature with the parents of the file, all of them. What it depends on here stays if the file names no parent. */
const withDependencies = (feature: Feature, { dependencies: placed }: Entry): Step => {
  if (placed === undefined || placed.it.dependencies.length === 0) return unchanged(feature);
  const wanted = placed.it.dependencies.map((parent) =>
    normalDependency(parent.feature, parent.enabled, parent.variants),
  );
  const isHere = (dependency: object): boolean => feature.dependencies.some((other) => isSame(other, dependency));
  const added = wanted.filter((dependency) => !isHere(dependency));
  const removed = feature.dependencies.filter(
    (other) => !wanted.some((dependency) => dependency.feature === other.feature),
  );
  if (added.length === 0 && removed.length === 0) return unchanged(feature);
  const events: DomainEvent[] = [
    ...removed.map((parent) => told('feature-dependency-removed', feature, { data: { feature: parent.feature } })),
    ...added.map((data) => told('feature-dependency-added', feature, { data })),
  ];
  return { feature: { ...feature, dependencies: wanted }, events, written: added.length };
};

const placeholder = (name: string, { destination, importer }: Ground): Feature => ({
  ...createFeature({ name: 'placeholder' }, { project: destination.project, ...importer }).feature,
  name,
});

/** Plans what becomes of one feature; what is wrong with it is noted. */
export const planFeature = (entry: Entry, ground: Ground): FeaturePlan => {
  const { destination } = ground;
  const { name } = entry.feature.it;
  const existing = destination.features.get(name);
  const properties = withProperties(entry, ground);
  // Even for a feature that cannot be, the rest of what is wrong is found.
  const start = properties?.feature ?? placeholder(name, ground);
  const hasEnvironment = entry.environment !== undefined || entry.strategies.length > 0;

  const tags = withTags(start, entry, ground);
  const strategies = hasEnvironment ? withStrategiesOf(tags.feature, entry, ground) : unchanged(tags.feature);
  const variants = withVariants(strategies.feature, entry, ground);
  const onOff = hasEnvironment ? withSwitch(variants.feature, entry, ground) : unchanged(variants.feature);
  const dependencies = withDependencies(onOff.feature, entry);
  const events = [properties, tags, strategies, variants, onOff, dependencies].flatMap((step) => step?.events ?? []);
  const isLeftOff = entry.environment?.it.enabled === true && entry.strategies.length === 0;
  return {
    entry,
    feature: dependencies.feature,
    events,
    outcome: existing === undefined ? 'created' : events.length > 0 ? 'updated' : 'unchanged',
    strategies: strategies.written,
    tags: tags.written,
    dependencies: dependencies.written,
    left: isLeftOff ? [{ feature: name, reason: notEnabled }] : [],
  };
};
