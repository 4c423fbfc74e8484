import type { ApiToken } from '@bunting/contracts';
import type { AccessEvent } from '../../persistence/unit-of-work.ts';
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

/** What is told of a token, without its secret: where it is for one project or environment, it is an event of that. */
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

/** A token as it is answered: shortened, and without what it is found by within Bunting. */
export const toApiToken = ({ id: _id, plaintext: _readable, ...token }: StoredToken): ApiToken => token;

/** A token as lists show it: with its whole secret, where that is kept readable, to a caller who could create such a token. */
export const toListedToken = (token: StoredToken, mayCreate: boolean): ApiToken => ({
  ...toApiToken(token),
  ...(mayCreate && token.plaintext !== undefined ? { secret: token.plaintext } : {}),
});
