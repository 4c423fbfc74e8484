import { implement } from '@bunting/bus';
import { AddDependency, authorise } from '@bunting/contracts';
import { normalizeDependency, setParent } from '../../domain/dependencies/dependency.ts';
import { saveDecision } from '../save-decisions.ts';
import type { FeaturesContext } from '../context.ts';

export const addDependencyEndpoint = ({ transaction }: FeaturesContext) =>
  implement(AddDependency, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { projectId, featureName } = params;
      const { child, parent } = await tx.features.getWithNewParentForUpdate(projectId, featureName, body.feature);
      authorise(caller, AddDependency.permission, { project: child.project });
      const children = await tx.features.childrenOf(child.name);
      const dependency = normalizeDependency(body.feature, body.enabled, body.variants);
      await saveDecision(tx, setParent(child, dependency, { parent, children }), caller);
      return null;
    }),
  );
