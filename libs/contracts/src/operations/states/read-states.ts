import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ReadableStateEntity } from '../../outbox/state-schemas.ts';

export const ReadStates = defineOperation({
  subject: 'call.features.read-states',
  operationId: 'readStates',
  summary: 'List the current states of features or segments, for projections to compare',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    entity: ReadableStateEntity,
    after: Type.String({ description: 'the id that the page begins after' }),
    limit: Type.Integer({ minimum: 1, maximum: 500 }),
  }),
  reply: Type.Object({
    states: Type.Array(
      Type.Object({
        id: Type.String(),
        version: Type.Integer(),
        state: Type.Unknown({ description: 'the payload of the state message' }),
      }),
      { description: 'in the order of the bytes of their ids' },
    ),
  }),
});
