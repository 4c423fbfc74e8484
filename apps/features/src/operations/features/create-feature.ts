import { implement } from '@bunting/bus';
import { CreateFeature } from '@bunting/contracts';
import { createFeature } from '../../domain/features/create-feature.ts';
import { featureWithoutEnvironments } from '../../domain/features/feature-without-environments.ts';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import { activeProjectNotFound, featureNameTaken } from '../../domain/refusals.ts';
import { authorise } from '../authorise.ts';
import { authorOf } from '../author.ts';
import { addTags, pathOfType } from '../tags/add-tags.ts';
import { requireBelowLimits } from './require-below-limits.ts';
import type { FeaturesContext } from '../context.ts';

export const createFeatureEndpoint = ({ transaction, instanceFeatureLimit }: FeaturesContext) =>
  implement(CreateFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller, now } = request;
      authorise(caller, CreateFeature.permission, { project: params.projectId });
      requireUrlFriendlyName(body.name);
      await tx.projects.lockShared({ project: params.projectId });
      const { taken, project } = await tx.projects.newFeatureContext(params.projectId, body.name);
      if (taken !== null) throw featureNameTaken(taken);
      const origin = { project: params.projectId, now: now.toISOString(), by: authorOf(caller) };
      const { feature, events } = createFeature(body, { ...origin, naming: project?.naming });
      if (project === null) throw activeProjectNotFound(params.projectId);
      await requireBelowLimits(tx, {
        project: params.projectId,
        projectFeatureLimit: project.featureLimit,
        instanceFeatureLimit,
        adding: 1,
      });
      await addTags(tx, feature.tags, pathOfType(body.tags ?? [], '/body/tags'));
      await tx.features.add([feature]);
      tx.events.emit(events);
      return featureWithoutEnvironments(feature);
    }),
  );
