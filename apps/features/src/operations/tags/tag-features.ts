import { implement } from '@bunting/bus';
import { invalid, TagFeatures } from '@bunting/contracts';
import { featureNotFound } from '../../domain/refusals.ts';
import { changeTags, tagsToAdd } from '../../domain/tags/tag.ts';
import { authorise } from '../authorise.ts';
import { saveAllAndEmit } from '../save-and-emit.ts';
import { addTags, pathOfType } from './add-tags.ts';
import type { FeaturesContext } from '../context.ts';

export const tagFeaturesEndpoint = ({ transaction }: FeaturesContext) =>
  implement(TagFeatures, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      authorise(caller, TagFeatures.permission, { project: params.projectId });
      const names = [...new Set(body.features)];
      const features = new Map((await tx.features.findAllForUpdate(names)).map((feature) => [feature.name, feature]));
      const found = names.map((name) => {
        const feature = features.get(name);
        if (feature === undefined) throw featureNotFound(name);
        if (feature.project === params.projectId) return feature;
        const path = `/body/features/${body.features.indexOf(name)}`;
        throw invalid(`Tried to change tags of feature not belonging to project: see the \`${path}\` property.`, path);
      });
      if (found.length > 0) {
        await addTags(tx, tagsToAdd(body.tags), pathOfType(body.tags.addedTags, '/body/tags/addedTags'));
      }
      const decisions = found.map((feature) => changeTags(feature, body.tags));
      await saveAllAndEmit(tx, decisions, caller);
      return null;
    }),
  );
