import { maySee } from '@bunting/contracts';
import { dependencyFault } from '../dependencies/dependency.ts';
import { shortName } from '../refusals.ts';
import type { FeaturePlan, PlanContext } from './plan-feature.ts';

/** Checks the dependencies that features would have after the import, and collects the errors. */
export const checkDependencies = (
  plans: readonly FeaturePlan[],
  { destination, caller, errors }: PlanContext,
): void => {
  const planned = new Map(plans.map(({ feature }) => [feature.name, feature]));
  const children = new Map<string, string[]>();
  for (const { feature } of plans) {
    for (const parent of feature.dependencies) {
      const siblings = children.get(parent.feature);
      if (siblings === undefined) children.set(parent.feature, [feature.name]);
      else siblings.push(feature.name);
    }
  }
  for (const { feature, entry } of plans) {
    const dependenciesInFile = entry.dependencies;
    if (dependenciesInFile === undefined) continue;
    const parents = new Set<string>();
    const otherChildren = (destination.children.get(feature.name) ?? []).filter((child) => !planned.has(child));
    for (const [index, { feature: name }] of dependenciesInFile.value.dependencies.entries()) {
      const path = `${dependenciesInFile.path}/dependencies/${index}/feature`;
      if (parents.has(name)) errors.add(`"${shortName(feature.name)}" depends on "${shortName(name)}" twice`, path);
      parents.add(name);
      const parent = planned.get(name) ?? destination.features.get(name);
      if (parent === undefined || parent.archivedAt !== null || !maySee(caller, parent.project)) {
        errors.addMissing(`Active feature "${shortName(name)}"`, path, feature.name);
        continue;
      }
      const context = { parent, children: [...otherChildren, ...(children.get(feature.name) ?? [])] };
      const fault = dependencyFault(feature, name, context);
      if (fault !== undefined) errors.add(fault.message.replace(/\.$/, ''), path);
    }
  }
};
