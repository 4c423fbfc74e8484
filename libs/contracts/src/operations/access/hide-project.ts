import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/**
 * Hides a project from callers without a role in it, before the features service commits that it is private: a caller in between does
 * not see it. The state with this version, or a later one, decides from then on.
 */
export const HideProject = defineOperation({
  subject: 'call.gateway.hide-project',
  operationId: 'hideProject',
  summary: 'Hides a project that is about to be private',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    id: Type.String({ minLength: 1, description: 'the id of the project' }),
    version: Type.Integer({ description: 'the version that the state of the private project will have' }),
  }),
});
