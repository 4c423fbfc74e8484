import { implement } from '@bunting/bus';
import { DiscoverOidcProvider } from '@bunting/contracts';
import { mergeOidcSettings } from './oidc-settings.ts';
import { discoverProvider } from './openid-provider.ts';
import type { GatewayContext } from '../context.ts';

export const discoverOidcProviderEndpoint = ({ signInSettings }: GatewayContext) =>
  implement(DiscoverOidcProvider, async ({ body }) =>
    discoverProvider(mergeOidcSettings(await signInSettings.oidc(), body)),
  );
