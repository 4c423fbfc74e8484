import { PlaygroundTable, PlaygroundTableBody } from '../../model/playground.ts';
import { defineOperation } from '../../operation.ts';

/** Evaluates features for many contexts in many environments, page by page, now and as if a change request were applied. */
export const EvaluatePlaygroundTable = defineOperation({
  subject: 'call.features.evaluate-playground-table',
  operationId: 'getPlaygroundTable',
  summary: 'Evaluate features as a table',
  description:
    'Evaluates a page of features in each environment for each context: now, and after a change request. The advanced playground returns the reasons.',
  tag: 'Playground',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/playground/table' },
  isHeavy: true,
  permission: 'authenticated',
  readsOnly: true,
  body: PlaygroundTableBody,
  reply: PlaygroundTable,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
