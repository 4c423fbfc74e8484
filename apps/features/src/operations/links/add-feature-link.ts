import { implement } from '@bunting/bus';
import { AddFeatureLink, authorise } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { addLink } from '../../domain/links/link.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const addFeatureLinkEndpoint = ({ transaction }: FeaturesContext) =>
  implement(AddFeatureLink, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, AddFeatureLink.permission, { project: feature.project });
      await saveDecision(tx, addLink(feature, body, randomUUID()), caller);
      return null;
    }),
  );
