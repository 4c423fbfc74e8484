import { Type } from 'typebox';
import { ValidEdgeTokens } from '../../model/sdks/edge.ts';
import { defineOperation } from '../../operation.ts';

/** Returns those of the tokens of an Unleash Edge that are valid, with their types and projects. */
export const ValidateEdgeTokens = defineOperation({
  subject: 'call.gateway.validate-edge-tokens',
  operationId: 'getValidTokens',
  summary: 'Validate tokens for an Edge',
  description:
    'Returns those of the tokens that are valid client or frontend tokens, with their projects and environment. Other tokens, admin tokens included, are omitted.',
  tag: 'Edge',
  http: { method: 'POST', url: '/edge/validate' },
  permission: 'public',
  body: Type.Object(
    {
      tokens: Type.Array(Type.String({ maxLength: 512, description: 'a token' }), {
        maxItems: 100,
        description: 'the tokens that the Edge received',
      }),
    },
    { title: 'tokenStringListSchema', description: 'Tokens to check.' },
  ),
  reply: ValidEdgeTokens,
  readsOnly: true,
});
