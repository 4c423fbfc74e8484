import type { Endpoint } from '@bunting/bus';
import type { GatewayContext } from './context.ts';
import { edgeEndpoints } from './edges/endpoints.ts';
import { groupEndpoints } from './groups/endpoints.ts';
import { instanceEndpoints } from './instance/endpoints.ts';
import { inviteLinkEndpoints } from './invite-links/endpoints.ts';
import { oidcEndpoints } from './oidc/endpoints.ts';
import { passwordEndpoints } from './passwords/endpoints.ts';
import { patEndpoints } from './pats/endpoints.ts';
import { projectAccessEndpoints } from './project-access/endpoints.ts';
import { rightsEndpoints } from './rights/endpoints.ts';
import { roleEndpoints } from './roles/endpoints.ts';
import { scimEndpoints } from './scim/endpoints.ts';
import { serviceAccountEndpoints } from './service-accounts/endpoints.ts';
import { sessionEndpoints } from './sessions/endpoints.ts';
import { signInEndpoints } from './sign-in/endpoints.ts';
import { slackAccountEndpoints } from './slack-accounts/endpoints.ts';
import { tokenEndpoints } from './tokens/endpoints.ts';
import { userEndpoints } from './users/endpoints.ts';

const endpointsByNoun = [
  edgeEndpoints,
  groupEndpoints,
  instanceEndpoints,
  inviteLinkEndpoints,
  oidcEndpoints,
  passwordEndpoints,
  patEndpoints,
  projectAccessEndpoints,
  rightsEndpoints,
  roleEndpoints,
  scimEndpoints,
  serviceAccountEndpoints,
  sessionEndpoints,
  signInEndpoints,
  slackAccountEndpoints,
  tokenEndpoints,
  userEndpoints,
];

export function gatewayEndpoints(context: GatewayContext): readonly Endpoint[] {
  return endpointsByNoun.flatMap((endpoints) => endpoints(context));
}
