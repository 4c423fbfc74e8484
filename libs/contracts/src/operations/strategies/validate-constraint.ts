import { ConstraintBody } from '../../model/strategies/constraint-body.ts';
import { defineOperation } from '../../operation.ts';

/** Checks a constraint. */
export const ValidateConstraint = defineOperation({
  subject: 'call.features.validate-constraint',
  operationId: 'validateConstraint',
  summary: 'Validate a constraint',
  description: 'Validates a constraint as for a strategy. Nothing is stored.',
  tag: 'Features',
  http: { method: 'POST', url: '/api/admin/constraints/validate', status: 204 },
  permission: 'authenticated',
  readsOnly: true,
  body: ConstraintBody,
  errors: ['ValidationError', 'ExceedsLimitError', 'NotFoundError'],
});
