import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ReadableStateEntity } from '../../outbox/state-schemas.ts';

/**
 * Digests the versions of all snapshots by group, for a projection to compare with its own. The groups of features
 * are their projects; segments are one group, without a name.
 */
export const DigestStateVersions = defineOperation({
  subject: 'call.features.digest-state-versions',
  operationId: 'digestStateVersions',
  summary: 'Get the digests of the versions of features and segments, for projections to compare',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    entity: ReadableStateEntity,
    after: Type.String({ description: 'the group that the page begins after' }),
    limit: Type.Integer({ minimum: 1, maximum: 1000 }),
  }),
  reply: Type.Object({
    groups: Type.Array(
      Type.Object({
        group: Type.String(),
        count: Type.Integer(),
        digest: Type.String({ description: 'the digest of the versions, independent of their order' }),
      }),
      { description: 'in the order of their names; one without members may be left out' },
    ),
    next: Type.Union([Type.String(), Type.Null()], { description: 'the `after` of the next page; null at the end' }),
  }),
});
