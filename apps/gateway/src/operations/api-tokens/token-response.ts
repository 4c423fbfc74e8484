import type { ApiToken } from '@bunting/contracts';
import type { StoredToken } from '../../access/tokens/token-store.ts';

/** A token as the API returns it: with a masked secret, without its internal id. */
export const toApiToken = ({ id: _id, plaintext: _readable, ...token }: StoredToken): ApiToken => token;

/** A token as lists return it: with its secret if that is stored readable and the caller may create such a token. */
export const toListedToken = (token: StoredToken, mayCreate: boolean): ApiToken => ({
  ...toApiToken(token),
  ...(mayCreate && token.plaintext !== undefined ? { secret: token.plaintext } : {}),
});
