import { Type } from 'typebox';
import { ResourceLimits } from '../../model/instance.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the limits of the features service. */
export const GetResourceLimits = defineOperation({
  subject: 'call.features.get-resource-limits',
  operationId: 'getResourceLimits',
  summary: 'Get the limits of the features service',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  reply: Type.Object({
    ...Type.Pick(ResourceLimits, [
      'segmentValues',
      'strategySegments',
      'featureEnvironmentStrategies',
      'constraintValues',
      'constraints',
      'environments',
      'projects',
      'segments',
      'featureFlags',
    ]).properties,
    allowsRegex: Type.Boolean({ description: 'whether constraints may use the operator `REGEX`' }),
  }),
});
