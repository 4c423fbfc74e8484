import { implement, JsonText } from '@bunting/bus';
import { ListTagsOfType } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listTagsOfTypeEndpoint = ({ tags }: FeaturesContext) =>
  implement(
    ListTagsOfType,
    async ({ params, query, caller }) => new JsonText(await tags.all(params.type, hiddenProjectsOf(caller), query)),
  );
