import { type ApiToken, type Caller } from '@bunting/contracts';
import { kindsFor } from '../../domain/api-token.ts';
import type { Work } from '../../persistence/unit-of-work.ts';
import { maySeeToken } from './require-token.ts';
import { listed } from './token-event.ts';

/** The tokens that the caller may read. */
export const readableTokens = async ({ tokens }: Pick<Work, 'tokens'>, caller: Caller): Promise<ApiToken[]> => {
  const found = await tokens.list(kindsFor(caller, 'READ'));
  const creatable = kindsFor(caller, 'CREATE');
  return found
    .filter((token) => maySeeToken(caller, token))
    .map((token) => listed(token, creatable.includes(token.type)));
};
