import { requireDependable } from '../dependency.ts';
import { named } from '../refusals.ts';
import type { FeaturePlan, Ground } from './feature.ts';

/** Holds the families that there will be to their rules, and notes what is wrong with them. */
export const requireFamilies = (plans: readonly FeaturePlan[], { destination, importer, faults }: Ground): void => {
  const planned = new Map(plans.map(({ feature }) => [feature.name, feature]));
  const children = new Map<string, string[]>();
  for (const { feature } of plans) {
    for (const parent of feature.dependencies) {
      const known = children.get(parent.feature);
      if (known === undefined) children.set(parent.feature, [feature.name]);
      else known.push(feature.name);
    }
  }
  for (const { feature, entry } of plans) {
    const placed = entry.dependencies;
    if (placed === undefined) continue;
    const parents = new Set<string>();
    const staying = (destination.children.get(feature.name) ?? []).filter((child) => !planned.has(child));
    for (const [index, { feature: name }] of placed.it.dependencies.entries()) {
      const path = `${placed.path}/dependencies/${index}/feature`;
      if (parents.has(name)) faults.add(`"${named(feature.name)}" depends on "${named(name)}" twice`, path);
      parents.add(name);
      const parent = planned.get(name) ?? destination.features.get(name);
      if (parent === undefined || parent.archivedAt !== null || !importer.maySee(parent.project)) {
        faults.missing(`Active feature "${named(name)}"`, path, feature.name);
        continue;
      }
      const family = { parent, children: [...staying, ...(children.get(feature.name) ?? [])] };
      const reason = faults.refusalOf(() => requireDependable(feature, name, family));
      if (reason !== undefined) faults.add(reason.replace(/\.$/, ''), path);
    }
  }
};
