import { type Caller, refusal } from '@bunting/contracts';
import type { GatewayTransaction } from '../../persistence/unit-of-work.ts';

/**
 * A token with an expiry date must not create access beyond it: neither a further PAT of its user nor an admin token may expire later.
 * @param expiresAt of the token that is created or changed; null for none
 * @throws Refusal `OperationDeniedError` when it is later than that of the caller's token
 */
export const requireWithinLifetime = async (
  { tokens }: Pick<GatewayTransaction, 'tokens'>,
  { tokenId }: Caller,
  expiresAt: Date | null,
): Promise<void> => {
  const until = tokenId === undefined ? null : await tokens.expiryOf(tokenId);
  if (until === null || (expiresAt !== null && expiresAt <= until)) return;
  throw refusal(
    'OperationDeniedError',
    `The key of this request expires at ${until.toISOString()}, and so must a key that it makes: set an expiresAt that is not later.`,
  );
};
