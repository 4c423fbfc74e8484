import { implement } from '@bunting/bus';
import { GetEnvironmentVariants } from '@bunting/contracts';
import { replyWithEntityTag } from '../reply-with-entity-tag.ts';
import type { FeaturesContext } from '../context.ts';

export const getEnvironmentVariantsEndpoint = ({ featureParts }: FeaturesContext) =>
  implement(GetEnvironmentVariants, async (request) =>
    replyWithEntityTag(request, await featureParts.environmentVariants(request.params)),
  );
