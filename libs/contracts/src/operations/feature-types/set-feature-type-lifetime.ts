import { FeatureTypeDescription, FeatureTypeLifetimeBody } from '../../model/features/feature-type.ts';
import { defineOperation } from '../../operation.ts';
import { FeatureTypePath } from '../paths.ts';

/** Sets the lifetime of a feature type. Emits `feature-type-updated`. */
export const SetFeatureTypeLifetime = defineOperation({
  subject: 'call.features.set-feature-type-lifetime',
  operationId: 'updateFeatureTypeLifetime',
  summary: 'Set the lifetime of a feature type',
  description: 'Sets the lifetime in days; 0 or null for none.',
  tag: 'Feature Types',
  http: { method: 'PUT', url: '/api/admin/feature-types/:id/lifetime' },
  permission: 'ADMIN',
  params: FeatureTypePath,
  body: FeatureTypeLifetimeBody,
  reply: FeatureTypeDescription,
  errors: ['ValidationError', 'NotFoundError'],
});
