import { ResourceLimits } from '../../model/instance.ts';
import { defineOperation } from '../../operation.ts';
import { Type } from 'typebox';

/** Says how much of something the features service takes. */
export const GetLimits = defineOperation({
  subject: 'call.features.get-limits',
  operationId: 'limitsOfFeatures',
  summary: 'Says how much of something the features service takes',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  reply: Type.Pick(ResourceLimits, [
    'segmentValues',
    'strategySegments',
    'featureEnvironmentStrategies',
    'constraintValues',
    'constraints',
    'environments',
    'projects',
    'segments',
    'featureFlags',
  ]),
});
