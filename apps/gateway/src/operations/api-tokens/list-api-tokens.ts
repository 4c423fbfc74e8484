import { implement } from '@bunting/bus';
import { ListApiTokens } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';
import { visibleTokens } from './token-visibility.ts';

export const listApiTokensEndpoint = ({ reads }: GatewayContext) =>
  implement(ListApiTokens, async ({ caller }) => ({ tokens: await visibleTokens(reads, caller) }));
