import { ImpactBody, ImpactResult } from '../../model/change-requests/impact-on-users.ts';
import { defineOperation } from '../../operation.ts';

/** Returns the users for whom changes would turn features on or off. Nothing is stored. */
export const EvaluateImpact = defineOperation({
  subject: 'call.features.evaluate-impact',
  operationId: 'evaluateChangeImpact',
  summary: 'Evaluate the effect of changes on users',
  description:
    'Evaluates generated users before and after changes, in groups by the context values that constraints compare, and example users. Nothing is stored. At most 20 features.',
  tag: 'Playground',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/playground/impact' },
  isHeavy: true,
  permission: 'authenticated',
  readsOnly: true,
  body: ImpactBody,
  reply: ImpactResult,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
