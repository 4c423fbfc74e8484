import { implement } from '@bunting/bus';
import { GetApiTokensByName } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';
import { visibleTokens } from './token-visibility.ts';

export const getApiTokensByNameEndpoint = ({ reads }: GatewayContext) =>
  implement(GetApiTokensByName, async ({ caller, params }) => {
    const tokens = await visibleTokens(reads, caller);
    return { tokens: tokens.filter(({ tokenName }) => tokenName === params.name) };
  });
