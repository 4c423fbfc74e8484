import { type Endpoint, writes } from '@bunting/bus';
import { AddFeatureLink, authorise, RemoveFeatureLink, UpdateFeatureLink } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { addLink, removeLink, updateLink } from './link.ts';
import type { FeaturesContext } from '../context.ts';
import { saveDecision } from '../unit-of-work/save-decisions.ts';
import { noReferences } from '../projects/project-context-store.ts';

export function linkEndpoints({ transaction }: FeaturesContext): readonly Endpoint[] {
  return [
    writes(AddFeatureLink, transaction, async (tx, { params, body, caller }) => {
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, AddFeatureLink.permission, { project: feature.project });
      await saveDecision(tx, addLink(feature, body, randomUUID()), caller);
      return null;
    }),

    writes(UpdateFeatureLink, transaction, async (tx, { params, body, caller }) => {
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, UpdateFeatureLink.permission, { project: feature.project });
      await saveDecision(tx, updateLink(feature, params.linkId, body), caller);
      return null;
    }),

    writes(RemoveFeatureLink, transaction, async (tx, { params, caller }) => {
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, RemoveFeatureLink.permission, { project: feature.project });
      await saveDecision(tx, removeLink(feature, params.linkId), caller);
      return null;
    }),
  ];
}
