import { type Endpoint, reads } from '@bunting/bus';
import { CountCleanupFeatures, ListCleanupFeatures, ListUnknownFlags } from '@bunting/contracts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';

export function cleanupEndpoints({ cleanup, listUnknownFlags }: FeaturesContext): readonly Endpoint[] {
  return [
    reads(ListCleanupFeatures, ({ query, caller }) => cleanup.page(query, hiddenProjectsOf(caller))),

    reads(ListUnknownFlags, ({ caller, query }) => listUnknownFlags(query, hiddenProjectsOf(caller))),

    reads(CountCleanupFeatures, ({ query, caller }) => cleanup.counts(query, hiddenProjectsOf(caller))),
  ];
}
