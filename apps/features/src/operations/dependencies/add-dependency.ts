import { implement } from '@bunting/bus';
import { AddDependency, authorise } from '@bunting/contracts';
import { normalizeDependency, setParent } from '../../domain/dependencies/dependency.ts';
import { featureNotInProject } from '../../domain/refusals.ts';
import { saveDecision } from '../save-decisions.ts';
import type { FeaturesContext } from '../context.ts';

export const addDependencyEndpoint = ({ transaction }: FeaturesContext) =>
  implement(AddDependency, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      // Locks the child, the new and the old parent, so that none of them becomes a parent or a child concurrently.
      const childAndParents = await tx.features.findWithParentsForUpdate([params.featureName, body.feature]);
      const child = childAndParents.find(({ name }) => name === params.featureName);
      if (child === undefined || child.project !== params.projectId) {
        throw featureNotInProject(params.featureName, params.projectId);
      }
      authorise(caller, AddDependency.permission, { project: child.project });
      const parent = childAndParents.find(({ name }) => name === body.feature);
      const children = await tx.features.childrenOf(child.name);
      const dependency = normalizeDependency(body.feature, body.enabled, body.variants);
      await saveDecision(tx, setParent(child, dependency, { parent, children }), caller);
      return null;
    }),
  );
