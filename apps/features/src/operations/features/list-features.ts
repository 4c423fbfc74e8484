import { implement, JsonText } from '@bunting/bus';
import { invalid, ListFeatures, type Tag } from '@bunting/contracts';
import type { FeatureReader } from '../../persistence/feature-reader.ts';

const tagOf = (written: string, index: number): Tag => {
  const end = written.indexOf(':');
  if (end < 1 || end === written.length - 1) {
    const path = `/query/tag/${index}`;
    throw invalid(`The \`${path}\` property must be \`<type>:<value>\`. You provided "${written}".`, path);
  }
  return { type: written.slice(0, end), value: written.slice(end + 1) };
};

export const listFeaturesEndpoint = (features: FeatureReader) =>
  implement(ListFeatures, async ({ params, query, caller }) => {
    const wanted = { tags: query.tag?.map(tagOf), namePrefix: query.namePrefix };
    return new JsonText(await features.ofProject(params.projectId, caller.id, wanted));
  });
