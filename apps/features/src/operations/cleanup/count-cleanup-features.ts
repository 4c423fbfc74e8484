import { implement, JsonText } from '@bunting/bus';
import { CountCleanupFeatures } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const countCleanupFeaturesEndpoint = ({ cleanup }: FeaturesContext) =>
  implement(
    CountCleanupFeatures,
    async ({ query, caller }) => new JsonText(await cleanup.counts(query, hiddenProjectsOf(caller))),
  );
