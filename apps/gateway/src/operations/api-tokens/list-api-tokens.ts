import { implement } from '@bunting/bus';
import { ListApiTokens } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { readableTokens } from './readable-tokens.ts';

export const listApiTokensEndpoint = ({ work }: GatewayContext) =>
  implement(ListApiTokens, (request) =>
    work(request, async (tx) => ({ tokens: await readableTokens(tx, request.caller) })),
  );
