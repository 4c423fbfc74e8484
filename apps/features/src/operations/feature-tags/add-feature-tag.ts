import { implement } from '@bunting/bus';
import { AddFeatureTag, authorise } from '@bunting/contracts';
import { featureNotFound } from '../../domain/refusals.ts';
import { addTag } from '../../domain/feature-tags/feature-tags.ts';
import { saveDecision } from '../save-decisions.ts';
import { addTagsToCatalogue } from '../tags/add-tags-to-catalogue.ts';
import type { FeaturesContext } from '../context.ts';

export const addFeatureTagEndpoint = ({ transaction }: FeaturesContext) =>
  implement(AddFeatureTag, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const feature = await tx.features.findForUpdate(params.featureName);
      authorise(caller, AddFeatureTag.permission, { project: feature?.project });
      if (feature === undefined) throw featureNotFound(params.featureName);
      const decision = addTag(feature, body);
      if (decision.feature === feature) return body;
      await addTagsToCatalogue(tx, [body], () => '/body/type');
      await saveDecision(tx, decision, caller);
      return body;
    }),
  );
