import { implement } from '@bunting/bus';
import { authorise, UpdateFeatureTags } from '@bunting/contracts';
import { featureNotFound } from '../../domain/refusals.ts';
import { changeTags, tagsToAdd } from '../../domain/feature-tags/feature-tags.ts';
import { saveDecision } from '../save-decisions.ts';
import { addTagsToCatalogue, pathOfType } from '../tags/add-tags-to-catalogue.ts';
import type { FeaturesContext } from '../context.ts';

export const updateFeatureTagsEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateFeatureTags, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const feature = await tx.features.findForUpdate(params.featureName);
      authorise(caller, UpdateFeatureTags.permission, { project: feature?.project });
      if (feature === undefined) throw featureNotFound(params.featureName);
      const decision = changeTags(feature, body);
      await addTagsToCatalogue(tx, tagsToAdd(body), pathOfType(body.addedTags, '/body/addedTags'));
      const { tags } = await saveDecision(tx, decision, caller);
      return { version: 1 as const, tags: tags.map(({ type, value }) => ({ type, value })) };
    }),
  );
