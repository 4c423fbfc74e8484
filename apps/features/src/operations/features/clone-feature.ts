import { implement } from '@bunting/bus';
import { authorise, CloneFeature } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { cloneFeature } from '../../domain/features/clone-feature.ts';
import { featureWithoutEnvironments } from '../../domain/features/feature-without-environments.ts';
import { authorOf } from '../author.ts';
import { decideCreateOrClone } from './decide-create-or-clone.ts';
import type { FeaturesContext } from '../context.ts';

export const cloneFeatureEndpoint = ({ transaction, instanceFeatureLimit }: FeaturesContext) =>
  implement(CloneFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller, now } = request;
      const { projectId: project } = params;
      await tx.projects.lockShared({ project });
      // Locks the parent, too: the clone becomes another child of it.
      const source = await tx.features.getWithParentsForUpdate(project, params.featureName);
      authorise(caller, CloneFeature.permission, { project: source.project });
      await tx.guard.checkClone(body.name, project);
      const origin = { project, now: now.toISOString(), author: authorOf(caller) };
      const { feature, events } = await decideCreateOrClone(
        tx,
        { project, name: body.name, instanceFeatureLimit },
        (naming) => cloneFeature(source, body, { ...origin, naming }, randomUUID),
      );
      await tx.features.addClone(source, feature, events);
      return featureWithoutEnvironments(feature);
    }),
  );
