import { OfrepBulkEvaluation, OfrepBulkQuery, OfrepEvaluationBody } from '../../model/sdks/ofrep.ts';
import { defineOperation } from '../../operation.ts';

/** Evaluates all features for one user, by the OpenFeature Remote Evaluation Protocol. */
export const EvaluateFlags = defineOperation({
  subject: 'call.gateway.evaluate-flags',
  operationId: 'evaluateFlags',
  summary: 'Evaluate the features for a user (OFREP)',
  description:
    'The OpenFeature Remote Evaluation Protocol, version 0.3. 304 where the evaluations for this user are those of the ETag in `If-None-Match`. Features that are off are listed, too.',
  tag: 'OFREP',
  isBuntingExtension: true,
  http: {
    method: 'POST',
    url: '/ofrep/v1/evaluate/flags',
    address: 'callerAddress',
    assumesJson: true,
    dropsUnusableNames: true,
  },
  readsOnly: true,
  respondsFromMemory: true,
  permission: ['FRONTEND', 'CLIENT'],
  query: OfrepBulkQuery,
  body: OfrepEvaluationBody,
  reply: OfrepBulkEvaluation,
  setsEntityTag: true,
  errors: ['ValidationError'],
});
