import type { ApiToken } from '@bunting/contracts';
import type { AccessEvent } from '../../domain/access-event.ts';
import type { StoredToken } from '../../persistence/tokens/token-repository.ts';

const eventData = ({ tokenName, type, environment, project, projects, createdAt, expiresAt }: ApiToken) => ({
  tokenName,
  type,
  environment,
  project,
  projects,
  createdAt,
  expiresAt,
});

/** The event of a token, without its secret. It belongs to the project and environment of the token, where there is exactly one. */
export const tokenEvent = (
  type: 'api-token-created' | 'api-token-updated' | 'api-token-deleted',
  { data, preData }: { readonly data?: ApiToken; readonly preData?: ApiToken },
): AccessEvent => {
  const { projects = [], environment = '*' } = data ?? preData ?? {};
  const [project = '*', ...more] = projects;
  return {
    type,
    project: project === '*' || more.length > 0 ? null : project,
    environment: environment === '*' ? null : environment,
    data: data === undefined ? null : eventData(data),
    preData: preData === undefined ? null : eventData(preData),
  };
};

/** A token as the API returns it: with a masked secret, without its internal id. */
export const toApiToken = ({ id: _id, plaintext: _readable, ...token }: StoredToken): ApiToken => token;

/** A token as lists return it: with its secret if that is stored readable and the caller may create such a token. */
export const toListedToken = (token: StoredToken, mayCreate: boolean): ApiToken => ({
  ...toApiToken(token),
  ...(mayCreate && token.plaintext !== undefined ? { secret: token.plaintext } : {}),
});
