import type { ExportedFeatures } from '@bunting/contracts';

/** The maximum size of one request. A single feature above it is sent alone. */
export interface BatchSize {
  readonly features: number;
  readonly bytes: number;
}

type ListOf<K extends keyof ExportedFeatures> = NonNullable<ExportedFeatures[K]>;

/** A feature with everything in the file that belongs to it. */
interface FeatureData {
  readonly feature: ListOf<'features'>[number];
  readonly strategies: ListOf<'featureStrategies'>;
  readonly environments: ListOf<'featureEnvironments'>;
  readonly tags: ListOf<'featureTags'>;
  readonly dependencies: ListOf<'dependencies'>;
  readonly links: ListOf<'links'>;
  bytes: number;
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 1;

/** The data of each feature by its name, in the order of the file. */
const groupByFeature = (data: ExportedFeatures): Map<string, FeatureData> => {
  const dataByName = new Map<string, FeatureData>();
  for (const feature of data.features) {
    if (dataByName.has(feature.name)) throw new Error(`The file has the feature "${feature.name}" twice.`);
    const noData = { strategies: [], environments: [], tags: [], dependencies: [], links: [] };
    dataByName.set(feature.name, { feature, ...noData, bytes: bytesOf(feature) });
  }
  const assign = <T>(
    list: readonly T[] | undefined,
    nameOf: (item: T) => string,
    listIn: (featureData: FeatureData) => T[],
  ): void => {
    for (const item of list ?? []) {
      const featureData = dataByName.get(nameOf(item));
      if (featureData === undefined)
        throw new Error(`The file is not whole: it does not have the feature "${nameOf(item)}".`);
      listIn(featureData).push(item);
      featureData.bytes += bytesOf(item);
    }
  };
  assign(
    data.featureStrategies,
    ({ featureName }) => featureName,
    ({ strategies }) => strategies,
  );
  assign(
    data.featureEnvironments,
    ({ featureName }) => featureName,
    ({ environments }) => environments,
  );
  assign(
    data.featureTags,
    ({ featureName }) => featureName,
    ({ tags }) => tags,
  );
  assign(
    data.dependencies,
    ({ feature }) => feature,
    ({ dependencies }) => dependencies,
  );
  assign(
    data.links,
    ({ feature }) => feature,
    ({ links }) => links,
  );
  return dataByName;
};

/** The export of several features, with only the catalogue entries that they refer to. */
const partOf = (features: readonly FeatureData[], data: ExportedFeatures): ExportedFeatures => {
  const strategies = features.flatMap((featureData) => featureData.strategies);
  const tags = features.flatMap((featureData) => featureData.tags);
  const fields = new Set(
    strategies.flatMap(({ constraints = [] }) => constraints.map((constraint) => constraint.contextName)),
  );
  const segments = new Set(strategies.flatMap((strategy) => strategy.segments ?? []));
  const types = new Set(tags.map(({ tagType }) => tagType));
  return {
    features: features.map(({ feature }) => feature),
    featureStrategies: strategies,
    featureEnvironments: features.flatMap((featureData) => featureData.environments),
    featureTags: tags,
    dependencies: features.flatMap((featureData) => featureData.dependencies),
    links: features.flatMap((featureData) => featureData.links),
    contextFields: (data.contextFields ?? []).filter(({ name }) => fields.has(name)),
    segments: (data.segments ?? []).filter(({ id }) => segments.has(id)).map(({ id, name }) => ({ id, name })),
    tagTypes: data.tagTypes.filter(({ name }) => types.has(name)),
  };
};

/**
 * Splits an export into batches that can be imported one after the other: each has whole features, and parents come before those that
 * depend on them.
 */
export const batchesOf = (data: ExportedFeatures, { features: maxFeatures, bytes }: BatchSize): ExportedFeatures[] => {
  const features = [...groupByFeature(data).values()];
  const hasParent = ({ dependencies }: FeatureData): boolean =>
    dependencies.some((dependency) => dependency.dependencies.length > 0);
  const parts: FeatureData[][] = [];
  let freeBytes = 0;
  for (const featureData of [...features.filter((candidate) => !hasParent(candidate)), ...features.filter(hasParent)]) {
    const last = parts.at(-1);
    if (last === undefined || last.length >= maxFeatures || featureData.bytes > freeBytes) {
      parts.push([featureData]);
      freeBytes = bytes - featureData.bytes;
    } else {
      last.push(featureData);
      freeBytes -= featureData.bytes;
    }
  }
  return parts.map((part) => partOf(part, data));
};
