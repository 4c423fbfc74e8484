import { implement } from '@bunting/bus';
import { GetEnvironmentVariants } from '@bunting/contracts';
import { replyWithEntityTag } from '../reply-with-entity-tag.ts';
import type { FeaturesContext } from '../context.ts';

export const getEnvironmentVariantsEndpoint = ({ featureParts }: FeaturesContext) =>
  implement(GetEnvironmentVariants, async (request) => {
    const { params } = request;
    const at = { project: params.projectId, name: params.featureName };
    return replyWithEntityTag(request, await featureParts.environmentVariants(at, params.environment));
  });
