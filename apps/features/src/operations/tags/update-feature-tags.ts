import { implement } from '@bunting/bus';
import { notFound, UpdateFeatureTags } from '@bunting/contracts';
import { shortName } from '../../domain/refusals.ts';
import { changeTags, tagsToAdd } from '../../domain/tags/tag.ts';
import { authorise } from '../authorise.ts';
import { findVisible } from '../visibility.ts';
import { saveAndEmit } from '../save-and-emit.ts';
import { addTags } from './add-tags.ts';
import { unknownTagType } from './unknown-tag-type.ts';
import type { FeaturesContext } from '../context.ts';

export const updateFeatureTagsEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateFeatureTags, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const feature = findVisible(request, await tx.features.findForUpdate(params.featureName));
      authorise(caller, UpdateFeatureTags.permission, { project: feature?.project });
      if (feature === undefined) throw notFound(`Could not find feature with name ${shortName(params.featureName)}`);
      const decision = changeTags(feature, body);
      await addTags(tx, tagsToAdd(body), unknownTagType(body.addedTags, '/body/addedTags'));
      const { tags } = await saveAndEmit(tx, decision, caller);
      return { version: 1 as const, tags: tags.map(({ type, value }) => ({ type, value })) };
    }),
  );
