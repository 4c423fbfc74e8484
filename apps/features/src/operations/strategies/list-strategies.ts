import { implement } from '@bunting/bus';
import { ListStrategies } from '@bunting/contracts';
import { replyWithEntityTag } from '../reply-with-entity-tag.ts';
import type { FeaturesContext } from '../context.ts';

export const listStrategiesEndpoint = ({ featureParts }: FeaturesContext) =>
  implement(ListStrategies, async (request) =>
    replyWithEntityTag(request, await featureParts.strategies(request.params)),
  );
