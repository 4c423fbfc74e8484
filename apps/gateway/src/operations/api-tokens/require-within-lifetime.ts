import { type Caller, refusal } from '@bunting/contracts';
import type { GatewayTransaction } from '../../persistence/unit-of-work.ts';

/**
 * A key with an expiry date gives no right beyond it: neither a further key of the same person, nor an admin token, may be valid for
 * longer.
 * @param expiresAt of the key that is made or changed; null for none
 * @throws Refusal `OperationDeniedError` when it is later than that of the key of the caller
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
