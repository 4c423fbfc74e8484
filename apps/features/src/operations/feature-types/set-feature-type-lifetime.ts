import { implement } from '@bunting/bus';
import { notFound, SetFeatureTypeLifetime } from '@bunting/contracts';
import { shortName } from '../../domain/refusals.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import type { FeaturesContext } from '../context.ts';

export const setFeatureTypeLifetimeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetFeatureTypeLifetime, (request) =>
    transaction(request, async ({ featureTypes, events }) => {
      const { params, body, caller } = request;
      authoriseAtRoot(caller, SetFeatureTypeLifetime.permission);
      const before = await featureTypes.findForUpdate(params.id);
      if (before === undefined) {
        throw notFound(`The feature type you tried to update ("${shortName(params.id)}") does not exist.`);
      }
      // Zero days mean no expected lifetime.
      const after = { ...before, lifetimeDays: body.lifetimeDays || null };
      if (after.lifetimeDays === before.lifetimeDays) return before;
      await featureTypes.setLifetime(before.id, after.lifetimeDays);
      events.emit([{ type: 'feature-type-updated', data: after, preData: before }]);
      return after;
    }),
  );
