import { implement } from '@bunting/bus';
import {
  boundEnvironment,
  grantedProjects,
  Refusal,
  ValidateEdgeTokens,
  type ValidEdgeTokens,
} from '@bunting/contracts';
import type { Authenticator } from '../../admission/authenticator.ts';
import type { Principal } from '../../domain/principal.ts';
import type { GatewayContext } from '../../access/context.ts';

const principalOf = async (identify: Authenticator['identify'], token: string): Promise<Principal | undefined> => {
  try {
    return await identify(token);
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'AuthenticationRequired') return undefined;
    throw error;
  }
};

/** Looks up each token, valid or not, in the same way as the token of a request, but without recording a use of it. */
export const validateEdgeTokensEndpoint = ({ identify }: GatewayContext) =>
  implement(ValidateEdgeTokens, async ({ body }) => {
    const tokens = [...new Set(body.tokens)];
    const principals = await Promise.all(tokens.map((token) => principalOf(identify, token)));
    return {
      tokens: tokens.flatMap((token, index): ValidEdgeTokens['tokens'] => {
        const principal = principals[index];
        const environment = principal === undefined ? undefined : boundEnvironment(principal.caller);
        if (principal === undefined || principal.mayCallAdminApi || environment === undefined) return [];
        const type = principal.isPublic ? 'frontend' : 'client';
        return [{ token, type, projects: [...grantedProjects(principal.caller)], environment }];
      }),
    };
  });
