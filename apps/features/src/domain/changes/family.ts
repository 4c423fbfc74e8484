import type { Situation } from './rule.ts';

/** The active features that depend on one, when all that has been decided so far counts. */
export const childrenOf = ({ children, features }: Situation, name: string): readonly string[] => {
  const unchanged = (children.get(name) ?? []).filter((child) => !features.has(child));
  const touched = [...features.values()].filter(
    ({ archivedAt, dependencies }) => archivedAt === null && dependencies.some(({ feature }) => feature === name),
  );
  return [...unchanged, ...touched.map((feature) => feature.name)];
};
