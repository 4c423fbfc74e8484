import { implement, JsonText } from '@bunting/bus';
import { ListCleanupFeatures } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listCleanupFeaturesEndpoint = ({ cleanup }: FeaturesContext) =>
  implement(
    ListCleanupFeatures,
    async ({ query, caller }) => new JsonText(await cleanup.page(query, hiddenProjectsOf(caller))),
  );
