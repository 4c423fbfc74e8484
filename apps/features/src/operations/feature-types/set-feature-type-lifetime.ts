import { implement } from '@bunting/bus';
import { SetFeatureTypeLifetime } from '@bunting/contracts';
import { setLifetime } from '../../domain/feature-types/feature-type.ts';
import { featureTypeNotFound } from '../../domain/refusals.ts';
import type { FeaturesContext } from '../context.ts';

export const setFeatureTypeLifetimeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetFeatureTypeLifetime, (request) =>
    transaction(request, async ({ featureTypes }) => {
      const { params, body } = request;
      const before = await featureTypes.findForUpdate(params.id);
      if (before === undefined) throw featureTypeNotFound(params.id);
      const decision = setLifetime(before, body.lifetimeDays);
      await featureTypes.save(before, decision.type, decision.events);
      return decision.type;
    }),
  );
