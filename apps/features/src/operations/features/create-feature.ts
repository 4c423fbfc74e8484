import { implement } from '@bunting/bus';
import { authorise, CreateFeature } from '@bunting/contracts';
import { createFeature } from '../../domain/features/create-feature.ts';
import { featureWithoutEnvironments } from '../../domain/features/feature-without-environments.ts';
import { authorOf } from '../author.ts';
import { addTagsToCatalogue, pathOfType } from '../tags/add-tags-to-catalogue.ts';
import { decideCreateOrClone } from './decide-create-or-clone.ts';
import type { FeaturesContext } from '../context.ts';

export const createFeatureEndpoint = ({ transaction, instanceFeatureLimit }: FeaturesContext) =>
  implement(CreateFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller, now } = request;
      const { projectId: project } = params;
      authorise(caller, CreateFeature.permission, { project });
      await tx.projects.lockShared({ project });
      const { feature, events } = await decideCreateOrClone(
        tx,
        { project, name: body.name, instanceFeatureLimit },
        (naming) => createFeature(body, { project, now: now.toISOString(), author: authorOf(caller), naming }),
      );
      await addTagsToCatalogue(tx, feature.tags, pathOfType(body.tags ?? [], '/body/tags'));
      await tx.features.add([feature], events);
      return featureWithoutEnvironments(feature);
    }),
  );
