import { implement } from '@bunting/bus';
import { authorise, TagFeatures } from '@bunting/contracts';
import { changeTags, featuresToTag, tagsToAdd } from '../../domain/feature-tags/feature-tags.ts';
import { saveDecisions } from '../save-decisions.ts';
import { addTagsToCatalogue, pathOfType } from '../tags/add-tags-to-catalogue.ts';
import type { FeaturesContext } from '../context.ts';

export const tagFeaturesEndpoint = ({ transaction }: FeaturesContext) =>
  implement(TagFeatures, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      authorise(caller, TagFeatures.permission, { project: params.projectId });
      const names = [...new Set(body.features)];
      const found = await tx.features.findAllForUpdate(names);
      const features = featuresToTag(body.features, found, params.projectId);
      if (features.length > 0) {
        await addTagsToCatalogue(tx, tagsToAdd(body.tags), pathOfType(body.tags.addedTags, '/body/tags/addedTags'));
      }
      const decisions = features.map((feature) => changeTags(feature, body.tags));
      await saveDecisions(tx, decisions, caller);
      return null;
    }),
  );
