import { implement, JsonText } from '@bunting/bus';
import { ListArchivedFeatures } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listArchivedFeaturesEndpoint = ({ featureParts }: FeaturesContext) =>
  implement(
    ListArchivedFeatures,
    async ({ caller }) => new JsonText(await featureParts.archived(null, caller.id, hiddenProjectsOf(caller))),
  );
