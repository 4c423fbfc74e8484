import { implement } from '@bunting/bus';
import { invalid, notFound, TagFeatures } from '@bunting/contracts';
import { shortName } from '../../domain/refusals.ts';
import { changeTags, tagsToAdd } from '../../domain/tags/tag.ts';
import { authorise } from '../authorise.ts';
import { saveAllAndEmit } from '../save-and-emit.ts';
import { addTags } from './add-tags.ts';
import { unknownTagType } from './unknown-tag-type.ts';
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
        if (feature === undefined) throw notFound(`Could not find feature with name ${shortName(name)}`);
        if (feature.project === params.projectId) return feature;
        const path = `/body/features/${body.features.indexOf(name)}`;
        throw invalid(`Tried to change tags of feature not belonging to project: see the \`${path}\` property.`, path);
      });
      if (found.length > 0) {
        await addTags(tx, tagsToAdd(body.tags), unknownTagType(body.tags.addedTags, '/body/tags/addedTags'));
      }
      const decisions = found.map((feature) => changeTags(feature, body.tags));
      await saveAllAndEmit(tx, decisions, caller);
      return null;
    }),
  );
