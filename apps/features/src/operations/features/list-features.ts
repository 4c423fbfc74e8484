import { implement, JsonText } from '@bunting/bus';
import { ListFeatures, parseTag } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listFeaturesEndpoint = ({ features }: FeaturesContext) =>
  implement(ListFeatures, async ({ params, query, caller }) => {
    const tags = query.tag?.map((tag, index) => parseTag(tag, `/query/tag/${index}`));
    const { namePrefix, limit, offset } = query;
    return new JsonText(await features.ofProject(params.projectId, caller.id, { tags, namePrefix, limit, offset }));
  });
