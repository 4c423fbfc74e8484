import { Type } from 'typebox';
import { ValidEdgeTokens } from '../../model/edge.ts';
import { defineOperation } from '../../operation.ts';

/** Reads which of an Edge's tokens are valid, and for what. */
export const ValidateEdgeTokens = defineOperation({
  subject: 'call.gateway.validate-edge-tokens',
  operationId: 'getValidTokens',
  summary: 'Check tokens for an Edge',
  description:
    'Returns those of the tokens that are valid client or frontend tokens, with their projects and environment. It says nothing of other tokens, admin tokens included.',
  tag: 'Edge',
  http: { method: 'POST', url: '/edge/validate' },
  permission: 'public',
  body: Type.Object(
    {
      tokens: Type.Array(Type.String({ maxLength: 512, description: 'a token' }), {
        maxItems: 100,
        description: 'the tokens that the Edge was given',
      }),
    },
    { title: 'tokenStringListSchema', description: 'Tokens to check.' },
  ),
  reply: ValidEdgeTokens,
  idempotent: true,
});
