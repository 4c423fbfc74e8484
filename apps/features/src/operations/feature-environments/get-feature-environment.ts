import { implement } from '@bunting/bus';
import { GetFeatureEnvironment } from '@bunting/contracts';
import { replyWithEntityTag } from '../reply-with-entity-tag.ts';
import type { FeaturesContext } from '../context.ts';

export const getFeatureEnvironmentEndpoint = ({ featureParts }: FeaturesContext) =>
  implement(GetFeatureEnvironment, async (request) =>
    replyWithEntityTag(request, await featureParts.environment(request.params)),
  );
