import type { ApiToken } from '@bunting/contracts';
import type { AccessEvent } from '../../persistence/unit-of-work.ts';
import type { StoredToken } from '../../persistence/stored-tokens.ts';

const told = ({ tokenName, type, environment, project, projects, createdAt, expiresAt }: ApiToken) => ({
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
    data: data === undefined ? null : told(data),
    preData: preData === undefined ? null : told(preData),
  };
};

/** A token as it is answered: what it is found by within Bunting is nobody's business. */
export const answered = ({ id: _id, ...token }: StoredToken): ApiToken => token;
