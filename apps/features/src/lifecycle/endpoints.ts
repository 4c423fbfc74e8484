import { type Endpoint, reads } from '@bunting/bus';
import { CompleteFeature, CountLifecycles, GetLifecycle, UncompleteFeature } from '@bunting/contracts';
import { completeFeature, uncompleteFeature } from './lifecycle.ts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import { editFeature } from '../features/endpoints.ts';

export function lifecycleEndpoints({
  featureParts,
  countLifecycles,
  transaction,
}: FeaturesContext): readonly Endpoint[] {
  return [
    reads(GetLifecycle, ({ params }) => featureParts.lifecycle(params)),

    reads(CountLifecycles, ({ caller }) => countLifecycles(hiddenProjectsOf(caller))),

    editFeature(CompleteFeature, transaction, {
      rule: (feature, { body, now }) => completeFeature(feature, body, now.toISOString()),
      reply: () => null,
    }),

    editFeature(UncompleteFeature, transaction, { rule: uncompleteFeature, reply: () => null }),
  ];
}
