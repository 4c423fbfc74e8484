import { implement } from '@bunting/bus';
import { CloneFeature } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { cloneFeature } from '../../domain/features/clone-feature.ts';
import { featureWithoutEnvironments } from '../../domain/features/feature-without-environments.ts';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import { activeProjectNotFound, featureNameTaken } from '../../domain/refusals.ts';
import { authorise } from '../authorise.ts';
import { authorOf } from '../author.ts';
import { requireBelowLimits } from './require-below-limits.ts';
import type { FeaturesContext } from '../context.ts';

export const cloneFeatureEndpoint = ({ transaction, instanceFeatureLimit }: FeaturesContext) =>
  implement(CloneFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller, now } = request;
      await tx.projects.lockShared({ project: params.projectId });
      // Locks the parent, too: the clone becomes another child of it.
      const source = await tx.features.getWithParentsForUpdate(params.projectId, params.featureName);
      authorise(caller, CloneFeature.permission, { project: source.project });
      await tx.guard.checkClone(body.name, source.project);
      requireUrlFriendlyName(body.name);
      const { taken, project } = await tx.projects.newFeatureContext(source.project, body.name);
      if (taken !== null) throw featureNameTaken(taken);
      const by = authorOf(caller);
      const origin = { project: source.project, now: now.toISOString(), by, naming: project?.naming };
      const { feature, events } = cloneFeature(source, body, origin, randomUUID);
      if (project === null) throw activeProjectNotFound(source.project);
      await requireBelowLimits(tx, {
        project: source.project,
        projectFeatureLimit: project.featureLimit,
        instanceFeatureLimit,
        adding: 1,
      });
      await tx.features.add([feature], source);
      tx.events.emit(events);
      return featureWithoutEnvironments(feature);
    }),
  );
