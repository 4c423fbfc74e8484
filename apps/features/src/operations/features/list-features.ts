import { implement, JsonText } from '@bunting/bus';
import { ListFeatures } from '@bunting/contracts';
import { parseTag } from '../../domain/tags/tag.ts';
import type { FeaturesContext } from '../context.ts';

export const listFeaturesEndpoint = ({ features }: FeaturesContext) =>
  implement(ListFeatures, async ({ params, query, caller }) => {
    const tags = query.tag?.map((written, nth) => parseTag(written, `/query/tag/${nth}`));
    const { namePrefix, limit, offset } = query;
    return new JsonText(await features.ofProject(params.projectId, caller.id, { tags, namePrefix, limit, offset }));
  });
