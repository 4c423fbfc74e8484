import { type Static, Type } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ReadableStateEntity } from '../../outbox/state-schemas.ts';

/** The id of a feature or segment, and the version of its state. */
export const StateVersion = Type.Object({ id: Type.String(), version: Type.Integer() });
export type StateVersion = Static<typeof StateVersion>;

/** Lists the versions of features or segments, page by page: of one project, or of all. */
export const ListStateVersions = defineOperation({
  subject: 'call.features.list-state-versions',
  operationId: 'listStateVersions',
  summary: 'List the versions of features and segments, for projections to compare',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    entity: ReadableStateEntity,
    project: Type.Optional(Type.String({ description: 'only features of this project' })),
    after: Type.String({ description: 'the id that the page begins after' }),
    limit: Type.Integer({ minimum: 1, maximum: 5000 }),
  }),
  reply: Type.Object({
    versions: Type.Array(StateVersion, { description: 'in the order of the bytes of their ids' }),
  }),
});
