import { type Endpoint, reads, writes } from '@bunting/bus';
import {
  AddDependency,
  authorise,
  HasDependencies,
  ListParentVariants,
  ListPossibleParents,
  RemoveDependencies,
  RemoveDependency,
} from '@bunting/contracts';
import { normalizeDependency, removeDependencies, removeDependency, setParent } from './dependency.ts';
import type { FeaturesContext } from '../context.ts';
import { saveDecision } from '../unit-of-work/save-decisions.ts';

export function dependencyEndpoints({ dependencies, transaction }: FeaturesContext): readonly Endpoint[] {
  return [
    reads(ListParentVariants, ({ params }) => dependencies.parentVariants(params)),

    reads(ListPossibleParents, ({ params }) => dependencies.possibleParents(params)),

    reads(HasDependencies, () => dependencies.any()),

    writes(AddDependency, transaction, async (tx, { params, body, caller }) => {
      const { projectId, featureName } = params;
      const { child, parent } = await tx.features.getWithNewParentForUpdate(projectId, featureName, body.feature);
      authorise(caller, AddDependency.permission, { project: child.project });
      const children = await tx.features.childrenOf(child.name);
      const dependency = normalizeDependency(body.feature, body.enabled, body.variants);
      await saveDecision(tx, setParent(child, dependency, { parent, children }), caller);
      return null;
    }),

    writes(RemoveDependencies, transaction, async (tx, { params, caller }) => {
      const feature = await tx.features.getWithParentsForUpdate(params.projectId, params.featureName);
      authorise(caller, RemoveDependencies.permission, { project: feature.project });
      await saveDecision(tx, removeDependencies(feature), caller);
      return null;
    }),

    writes(RemoveDependency, transaction, async (tx, { params, caller }) => {
      const feature = await tx.features.getWithParentsForUpdate(params.projectId, params.featureName);
      authorise(caller, RemoveDependency.permission, { project: feature.project });
      await saveDecision(tx, removeDependency(feature, params.parent), caller);
      return null;
    }),
  ];
}
