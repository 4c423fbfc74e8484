import { implement, JsonText } from '@bunting/bus';
import { ListFeatures, type Tag } from '@bunting/contracts';
import type { FeatureReader } from '../../persistence/feature-reader.ts';

const tagOf = (written: string): Tag => {
  const end = written.indexOf(':');
  return { type: written.slice(0, end), value: written.slice(end + 1) };
};

export const listFeaturesEndpoint = (features: FeatureReader) =>
  implement(ListFeatures, async ({ params, query, caller }) => {
    const wanted = { tags: query.tag?.map(tagOf), namePrefix: query.namePrefix };
    return new JsonText(await features.ofProject(params.projectId, caller.id, wanted));
  });
