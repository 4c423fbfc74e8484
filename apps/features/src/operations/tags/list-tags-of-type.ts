import { implement, JsonText } from '@bunting/bus';
import { ListTagsOfType } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';

export const listTagsOfTypeEndpoint = ({ tags }: FeaturesContext) =>
  implement(
    ListTagsOfType,
    async ({ params, query, caller }) => new JsonText(await tags.all(params.type, hiddenFrom(caller), query)),
  );
