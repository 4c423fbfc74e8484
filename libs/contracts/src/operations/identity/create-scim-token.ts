import { ScimToken } from '../../model/access/identity-provider-settings.ts';
import { defineOperation } from '../../operation.ts';

/** Creates a token for SCIM, which replaces the previous one. */
export const CreateScimToken = defineOperation({
  subject: 'call.gateway.create-scim-token',
  operationId: 'createScimToken',
  summary: 'Create a new token of SCIM',
  description: 'Replaces the token, which is shown this once. The previous one is no longer valid.',
  tag: 'Auth',
  http: { method: 'POST', url: '/api/admin/scim-settings/generate-new-token' },
  permission: 'ADMIN',
  reply: ScimToken,
});
