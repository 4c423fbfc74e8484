import type { Feature } from '../features/feature.ts';

/**
 * Finds the first name that no variant of the feature has, in any environment. A feature without variants is not checked: its child may be
 * set up first.
 */
export const findMissingParentVariant = (parent: Feature, names: readonly string[]): string | undefined => {
  const existingNames = new Set(
    Object.values(parent.environments).flatMap(({ variants, strategies }) =>
      [...variants, ...strategies.flatMap((strategy) => strategy.variants)].map(({ name }) => name),
    ),
  );
  return existingNames.size === 0 ? undefined : names.find((name) => !existingNames.has(name));
};
