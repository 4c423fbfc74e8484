import type { Feature } from '../features/feature.ts';

/**
 * The place of the first name among some that is no variant of the feature, in whatever environment; -1, when all are. A
 * feature without any variant is not judged: its child may well be set up first.
 */
export const indexOfUnknownVariant = (parent: Feature, names: readonly string[]): number => {
  const known = new Set(
    Object.values(parent.environments).flatMap(({ variants, strategies }) =>
      [...variants, ...strategies.flatMap((strategy) => strategy.variants)].map(({ name }) => name),
    ),
  );
  if (known.size === 0) return -1;
  return names.findIndex((name) => !known.has(name));
};
