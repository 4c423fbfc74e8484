import { PlaygroundBody, PlaygroundResult } from '../../model/playground.ts';
import { defineOperation } from '../../operation.ts';

/** Evaluates the features of an environment for a context, with the reasons. */
export const EvaluatePlayground = defineOperation({
  subject: 'call.features.evaluate-playground',
  operationId: 'getPlayground',
  summary: 'Evaluate features for a context',
  description: 'Evaluates every feature as server-side SDKs do, with the reasons.',
  tag: 'Playground',
  http: { method: 'POST', url: '/api/admin/playground' },
  isHeavy: true,
  permission: 'authenticated',
  readsOnly: true,
  body: PlaygroundBody,
  reply: PlaygroundResult,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
