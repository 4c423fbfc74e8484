import { implement, JsonText } from '@bunting/bus';
import { ListArchivedFeatures } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';

export const listArchivedFeaturesEndpoint = ({ parts }: FeaturesContext) =>
  implement(
    ListArchivedFeatures,
    async ({ caller }) => new JsonText(await parts.archived(null, caller.id, hiddenFrom(caller))),
  );
