import { AdvancedPlaygroundBody, AdvancedPlaygroundResult } from '../../model/playground.ts';
import { defineOperation } from '../../operation.ts';

/** Evaluates features in several environments for every combination of context values, with the reasons. */
export const EvaluateAdvancedPlayground = defineOperation({
  subject: 'call.features.evaluate-advanced-playground',
  operationId: 'getAdvancedPlayground',
  summary: 'Evaluate features for many contexts in many environments',
  description:
    'Evaluates every feature in each environment for every combination of context values that are separated by commas, with the reasons. At most 15,000 evaluations in one request.',
  tag: 'Playground',
  http: { method: 'POST', url: '/api/admin/playground/advanced' },
  isHeavy: true,
  permission: 'authenticated',
  readsOnly: true,
  body: AdvancedPlaygroundBody,
  reply: AdvancedPlaygroundResult,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
