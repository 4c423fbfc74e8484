import type { ApiToken } from '@bunting/contracts';
import type { GatewayEvent } from '../gateway-event.ts';
import { type TokenScope, wildcard } from './token-scope.ts';

/** The properties of an API token in events; its secret is none of them. */
export type ApiTokenInEvents = Pick<
  ApiToken,
  'tokenName' | 'type' | 'environment' | 'project' | 'projects' | 'createdAt' | 'expiresAt'
>;

const eventData = ({ tokenName, type, environment, project, projects, createdAt, expiresAt }: ApiTokenInEvents) => ({
  tokenName,
  type,
  environment,
  project,
  projects,
  createdAt,
  expiresAt,
});

/** A token of the settings, which is named after its kind and never expires. */
export const initialTokenInEvents = (
  { kind, projects, environment }: TokenScope,
  createdAt: string,
): ApiTokenInEvents => ({
  tokenName: kind,
  type: kind,
  environment,
  project: projects[0] ?? wildcard,
  projects: [...projects],
  createdAt,
  expiresAt: null,
});

/** The event of a token. It belongs to the project and the environment of the token, where there is exactly one. */
export const tokenEvent = (
  type: 'api-token-created' | 'api-token-updated' | 'api-token-deleted',
  { data, preData }: { readonly data?: ApiTokenInEvents; readonly preData?: ApiTokenInEvents },
): GatewayEvent => {
  const { projects = [], environment = wildcard } = data ?? preData ?? {};
  const [project = wildcard, ...more] = projects;
  return {
    type,
    project: project === wildcard || more.length > 0 ? null : project,
    environment: environment === wildcard ? null : environment,
    data: data === undefined ? null : eventData(data),
    preData: preData === undefined ? null : eventData(preData),
  };
};
