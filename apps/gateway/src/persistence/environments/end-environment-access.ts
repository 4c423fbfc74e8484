import type { Tx } from '@bunting/database';
import type { GatewayEvent } from '../../domain/gateway-event.ts';
import { tokenEvent } from '../../domain/tokens/token-event.ts';
import { gatewaySql, TokenEntity } from '../../unit-of-work/entities.ts';
import { removeEnvironmentFromRoles } from '../../access/roles/role-store.ts';
import { apiTokenInEventsOf, type TokenRow } from '../../access/tokens/token-store.ts';

interface EndedTokens {
  /** ends the tokens that were created before this time; null for all */
  readonly createdBefore: Date | null;
  /** whether tokens of the settings, which may be for an environment that is yet to be created, stay */
  readonly keepsTokensOfSettings: boolean;
}

const revokeTokens = `
  update api_token token set revoked_at = now()
  where environment = $1 and kind <> 'user' and revoked_at is null
    and ($2::timestamptz is null or created_at < $2) and (created_by is not null or not $3)
  returning ${gatewaySql.selectOf(TokenEntity, 'token')}`;

/**
 * Ends what names an environment that does not exist: its tokens, and the permissions of roles in it, so that they hold in no later
 * environment of that name. @returns the events of it
 */
export const endEnvironmentAccess = async (
  tx: Pick<Tx, 'query'>,
  environment: string,
  { createdBefore, keepsTokensOfSettings }: EndedTokens,
): Promise<readonly GatewayEvent[]> => {
  const values = [environment, createdBefore?.toISOString() ?? null, keepsTokensOfSettings];
  const revoked = await tx.query<TokenRow>(revokeTokens, values);
  return [
    ...revoked.map((row) => tokenEvent('api-token-deleted', { preData: apiTokenInEventsOf(row) })),
    ...(await removeEnvironmentFromRoles(tx, environment)),
  ];
};
