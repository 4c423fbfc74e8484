import { type Endpoint, reads, writes } from '@bunting/bus';
import { authorise, CompleteFeature, CountLifecycles, GetLifecycle, UncompleteFeature } from '@bunting/contracts';
import { completeFeature, uncompleteFeature } from './lifecycle.ts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import { saveDecision } from '../unit-of-work/save-decisions.ts';
import { noReferences } from '../projects/project-context-store.ts';

export function lifecycleEndpoints({
  featureParts,
  countLifecycles,
  transaction,
}: FeaturesContext): readonly Endpoint[] {
  return [
    reads(GetLifecycle, ({ params }) => featureParts.lifecycle(params)),

    reads(CountLifecycles, ({ caller }) => countLifecycles(hiddenProjectsOf(caller))),

    writes(CompleteFeature, transaction, async (tx, { params, body, caller, now }) => {
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, CompleteFeature.permission, { project: feature.project });
      await saveDecision(tx, completeFeature(feature, body, now.toISOString()), caller);
      return null;
    }),

    writes(UncompleteFeature, transaction, async (tx, { params, caller }) => {
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, UncompleteFeature.permission, { project: feature.project });
      await saveDecision(tx, uncompleteFeature(feature), caller);
      return null;
    }),
  ];
}
