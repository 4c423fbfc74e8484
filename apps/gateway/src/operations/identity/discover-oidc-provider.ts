import { implement } from '@bunting/bus';
import { DiscoverOidcProvider } from '@bunting/contracts';
import { badRequest } from '../../domain/refusals.ts';
import { changedOidc } from '../../identity/oidc-settings.ts';
import { providerFaultOf, openIdProvider } from '../../identity/openid-provider.ts';
import type { GatewayContext } from '../context.ts';

export const discoverOidcProviderEndpoint = ({ signInSettings }: GatewayContext) =>
  implement(DiscoverOidcProvider, async ({ body }) => {
    const settings = changedOidc(await signInSettings.oidc(), body);
    // Discovery needs no client, but the library requires an id.
    const clientId = settings.clientId || 'bunting';
    try {
      return await openIdProvider({ ...settings, clientId }, () => undefined).discover();
    } catch (error) {
      throw badRequest(providerFaultOf(error).message.replace(/\.$/, ''), '/body/discoverUrl');
    }
  });
