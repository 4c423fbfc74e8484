import type { ExportedFeatures } from '@bunting/contracts';

/** The maximum size of one request. A single feature above it is sent alone. */
export interface BatchSize {
  readonly features: number;
  readonly bytes: number;
}

type ListOf<K extends keyof ExportedFeatures> = NonNullable<ExportedFeatures[K]>;

/** A feature with its settings in the file. */
interface Whole {
  readonly feature: ListOf<'features'>[number];
  readonly strategies: ListOf<'featureStrategies'>;
  readonly environments: ListOf<'featureEnvironments'>;
  readonly tags: ListOf<'featureTags'>;
  readonly dependencies: ListOf<'dependencies'>;
  bytes: number;
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 1;

/** By feature, in the order of the file. */
const wholes = (data: ExportedFeatures): Map<string, Whole> => {
  const found = new Map<string, Whole>();
  for (const feature of data.features) {
    if (found.has(feature.name)) throw new Error(`The file has the feature "${feature.name}" twice.`);
    const nothing = { strategies: [], environments: [], tags: [], dependencies: [] };
    found.set(feature.name, { feature, ...nothing, bytes: bytesOf(feature) });
  }
  const put = <T>(list: readonly T[] | undefined, nameOf: (it: T) => string, of: (whole: Whole) => T[]): void => {
    for (const it of list ?? []) {
      const whole = found.get(nameOf(it));
      if (whole === undefined) throw new Error(`The file is not whole: it does not have the feature "${nameOf(it)}".`);
      of(whole).push(it);
      whole.bytes += bytesOf(it);
    }
  };
  put(
    data.featureStrategies,
    ({ featureName }) => featureName,
    ({ strategies }) => strategies,
  );
  put(
    data.featureEnvironments,
    ({ featureName }) => featureName,
    ({ environments }) => environments,
  );
  put(
    data.featureTags,
    ({ featureName }) => featureName,
    ({ tags }) => tags,
  );
  put(
    data.dependencies,
    ({ feature }) => feature,
    ({ dependencies }) => dependencies,
  );
  return found;
};

/** The export of several features, with only the catalogue entries that they refer to. */
const partOf = (features: readonly Whole[], data: ExportedFeatures): ExportedFeatures => {
  const strategies = features.flatMap((whole) => whole.strategies);
  const tags = features.flatMap((whole) => whole.tags);
  const fields = new Set(strategies.flatMap(({ constraints = [] }) => constraints.map((each) => each.contextName)));
  const segments = new Set(strategies.flatMap((strategy) => strategy.segments ?? []));
  const types = new Set(tags.map(({ tagType }) => tagType));
  return {
    features: features.map(({ feature }) => feature),
    featureStrategies: strategies,
    featureEnvironments: features.flatMap((whole) => whole.environments),
    featureTags: tags,
    dependencies: features.flatMap((whole) => whole.dependencies),
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
  const all = [...wholes(data).values()];
  const isChild = ({ dependencies }: Whole): boolean => dependencies.some((each) => each.dependencies.length > 0);
  const parts: Whole[][] = [];
  let freeBytes = 0;
  for (const whole of [...all.filter((one) => !isChild(one)), ...all.filter(isChild)]) {
    const last = parts.at(-1);
    if (last === undefined || last.length >= maxFeatures || whole.bytes > freeBytes) {
      parts.push([whole]);
      freeBytes = bytes - whole.bytes;
    } else {
      last.push(whole);
      freeBytes -= whole.bytes;
    }
  }
  return parts.map((part) => partOf(part, data));
};
