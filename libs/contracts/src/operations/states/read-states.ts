import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ReadableStateEntity } from '../../outbox/state-schemas.ts';

/** Returns the current snapshots of features or segments. Emits nothing. */
export const ReadStates = defineOperation({
  subject: 'call.features.read-states',
  operationId: 'readStates',
  summary: 'List the current states of features and segments',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    entity: ReadableStateEntity,
    ids: Type.Array(Type.String(), { maxItems: 500 }),
  }),
  reply: Type.Object({
    states: Type.Array(
      Type.Object({
        id: Type.String(),
        version: Type.Union([Type.Integer(), Type.Null()], { description: 'null if the entity never existed' }),
        state: Type.Unknown({ description: 'the payload of the state message; null if the entity was deleted' }),
      }),
    ),
  }),
});
