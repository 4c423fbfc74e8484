import { type Endpoint } from '@bunting/bus';
import { AddFeatureLink, RemoveFeatureLink, UpdateFeatureLink } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { addLink, removeLink, updateLink } from './link.ts';
import type { FeaturesContext } from '../context.ts';
import { editFeature } from '../features/endpoints.ts';

export function linkEndpoints({ transaction }: FeaturesContext): readonly Endpoint[] {
  return [
    editFeature(AddFeatureLink, transaction, {
      rule: (feature, { body }) => addLink(feature, body, randomUUID()),
      reply: () => null,
    }),

    editFeature(UpdateFeatureLink, transaction, {
      rule: (feature, { params, body }) => updateLink(feature, params.linkId, body),
      reply: () => null,
    }),

    editFeature(RemoveFeatureLink, transaction, {
      rule: (feature, { params }) => removeLink(feature, params.linkId),
      reply: () => null,
    }),
  ];
}
