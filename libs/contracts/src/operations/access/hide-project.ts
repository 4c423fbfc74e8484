import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/**
 * Hides a project from callers without a role in it, before the features service commits that it is private, so that no caller
 * sees it in between. The project stays hidden until the gateway receives its state with this version or a newer one, which then decides.
 */
export const HideProject = defineOperation({
  subject: 'call.gateway.hide-project',
  operationId: 'hideProject',
  summary: 'Hide a project before it becomes private',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    id: Type.String({ minLength: 1, description: 'the id of the project' }),
    version: Type.Integer({ description: 'the version that the state of the private project will have' }),
  }),
});
