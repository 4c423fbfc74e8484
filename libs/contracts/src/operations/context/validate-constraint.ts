import { ConstraintBody } from '../../model/constraint-body.ts';
import { defineOperation } from '../../operation.ts';

/** Check a constraint. */
export const ValidateConstraint = defineOperation({
  subject: 'call.features.validate-constraint',
  operationId: 'validateConstraint',
  summary: 'Check a constraint',
  description: 'Says whether a strategy could have this constraint.',
  tag: 'Features',
  http: { method: 'POST', url: '/api/admin/constraints/validate', status: 204 },
  permission: 'authenticated',
  idempotent: true,
  body: ConstraintBody,
  errors: ['ValidationError', 'NotFoundError'],
});
