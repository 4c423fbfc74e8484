import { Type } from 'typebox';
import { CallerAddressQuery } from '../../model/sdks/frontend-feature.ts';
import { OfrepEvaluation, OfrepEvaluationBody } from '../../model/sdks/ofrep.ts';
import { defineOperation } from '../../operation.ts';

/** Evaluates one feature for one user, by the OpenFeature Remote Evaluation Protocol. */
export const EvaluateFlag = defineOperation({
  subject: 'call.gateway.evaluate-flag',
  operationId: 'evaluateFlag',
  summary: 'Evaluate a feature for a user (OFREP)',
  description:
    'The OpenFeature Remote Evaluation Protocol, version 0.3. The token is sent as `Bearer`, or in `X-API-Key`. Errors also have the members `key`, `errorCode` and `errorDetails` of the protocol.',
  tag: 'OFREP',
  isBuntingExtension: true,
  http: {
    method: 'POST',
    url: '/ofrep/v1/evaluate/flags/:key',
    address: 'callerAddress',
    assumesJson: true,
    dropsUnusableNames: true,
  },
  readsOnly: true,
  respondsFromMemory: true,
  permission: ['FRONTEND', 'CLIENT'],
  params: Type.Object({ key: Type.String({ minLength: 1, description: 'the name of the feature' }) }),
  query: CallerAddressQuery,
  body: OfrepEvaluationBody,
  reply: OfrepEvaluation,
  errors: ['ValidationError', 'NotFoundError'],
});
