import { implement, JsonText } from '@bunting/bus';
import { ListTags } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listTagsEndpoint = ({ tags }: FeaturesContext) =>
  implement(ListTags, async ({ query, caller }) => new JsonText(await tags.all(null, hiddenProjectsOf(caller), query)));
