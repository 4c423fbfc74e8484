import { implement, JsonText } from '@bunting/bus';
import { ListArchivedFeatures } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listArchivedFeaturesEndpoint = ({ archive }: FeaturesContext) =>
  implement(
    ListArchivedFeatures,
    async ({ caller }) => new JsonText(await archive.features(null, caller.id, hiddenProjectsOf(caller))),
  );
