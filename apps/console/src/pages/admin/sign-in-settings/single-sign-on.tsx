import {
  DiscoverOidcProvider,
  type DiscoveredProvider,
  GetOidcSettings,
  type OidcSettings,
  SetOidcSettings,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../api/call.ts';
import { operationQuery, useOperationMutation } from '../../../api/queries-and-mutations.ts';
import { type RequestBodyField, RequestBodyForm } from '../../../components/forms/request-body-form.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../../components/content/notice.tsx';
import { QueryResult } from '../../../components/content/query-result.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { TextField } from '../../../components/forms/fields.tsx';
import { Select } from '../../../components/forms/selects.tsx';
import { CopyableSecret } from '../../../components/content/copyable-secret.tsx';
import { usePublicUrl } from '../public-url.ts';
import { addressFor, type IdentityProvider, identityProviders } from './identity-providers.ts';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';

/** The endpoints and abilities that a provider has published. */
function ProviderDetails({
  provider,
  algorithm,
}: {
  readonly provider: DiscoveredProvider;
  readonly algorithm: string;
}) {
  const pkce = {
    true: 'supported',
    false: 'not supported: signing in may fail',
    null: 'the provider does not say; Bunting always uses it',
  }[String(provider.supportsPkce)];
  const isAlgorithmUnsupported =
    provider.signingAlgorithms.length > 0 && !provider.signingAlgorithms.includes(algorithm);
  return (
    <div role="status" className={layout['section']}>
      <Badge tone="good">{provider.issuer} answers.</Badge>
      {isAlgorithmUnsupported && (
        <Notice tone="warning">
          The provider does not name {algorithm} among its signatures: signing in will fail.
        </Notice>
      )}
      <dl className={styles['pairs']}>
        {[
          ['Issuer', provider.issuer],
          ['People sign in at', provider.authorizationEndpoint],
          ['Tokens come from', provider.tokenEndpoint],
          ['Sessions end at', provider.endSessionEndpoint],
          ['ID tokens are signed with', provider.signingAlgorithms.join(', ')],
          ['Scopes', provider.scopes.join(' ')],
          ['PKCE', pkce],
        ].map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value || 'not named'}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Tries to discover a provider: the one of the stored settings, or another URL before it is stored. */
function TryProvider({ settings }: { readonly settings: OidcSettings }) {
  const discover = useOperationMutation(DiscoverOidcProvider, 'handled');
  const [url, setUrl] = useState(settings.discoverUrl);
  return (
    <form
      className={styles['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        discover.mutate({ body: { discoverUrl: url.trim() } });
      }}
    >
      <TextField
        label="Address to try"
        hint="Reads what the provider stored above says of itself. Nothing is changed."
        type="url"
        value={url}
        onChange={setUrl}
      />
      <div>
        <Button type="submit" isPending={discover.isPending}>
          Try the provider
        </Button>
      </div>
      <ErrorNotice error={discover.error} />
      {discover.data !== undefined && (
        <ProviderDetails provider={discover.data} algorithm={settings.idTokenSigningAlgorithm} />
      )}
    </form>
  );
}

/** The URLs of Bunting that the provider must know. */
function ClientUrls() {
  const { base, isConfigured } = usePublicUrl();
  return (
    <>
      {!isConfigured && (
        <Notice tone="warning">
          GATEWAY_PUBLIC_URL is not set, so the address of this page is shown. Set it, so that the provider sends people
          to the right one.
        </Notice>
      )}
      <p>Register Bunting at the provider with this redirect address:</p>
      <CopyableSecret label="Redirect address" value={`${base}/auth/oidc/callback`} />
      <p>And with this address after signing out:</p>
      <CopyableSecret label="Address after signing out" value={`${base}/`} />
    </>
  );
}

function fieldsOf({ isReadOnly, hasSecret }: OidcSettings): readonly RequestBodyField[] {
  const fields: readonly RequestBodyField[] = [
    { name: 'enabled', label: 'People can sign in through the provider' },
    {
      name: 'discoverUrl',
      label: 'Address of the provider',
      hint: 'Its issuer, such as https://id.example.org/realms/main',
    },
    { name: 'clientId', label: 'Client id' },
    {
      name: 'secret',
      label: 'Client secret',
      render: (value, onChange) => (
        <TextField
          label="Client secret"
          hint={
            hasSecret
              ? 'A secret is stored, and never shown. Leave this empty to keep it.'
              : 'No secret is stored yet. Leave it empty for a public client.'
          }
          type="password"
          autoComplete="new-password"
          value={String(value ?? '')}
          onChange={onChange}
          isDisabled={isReadOnly}
        />
      ),
    },
    { name: 'autoCreate', label: 'Create a user at the first sign-in' },
    { name: 'defaultRootRole', label: 'Root role of new users' },
    { name: 'emailDomains', label: 'Domains of email addresses', hint: 'Comma-separated; empty for every domain' },
    { name: 'enableGroupSyncing', label: 'Bring groups in line at each sign-in' },
    { name: 'groupJsonPath', label: 'Claim with the groups', hint: 'Such as groups or realm_access.roles' },
    { name: 'addGroupsScope', label: 'Request the scope groups' },
    { name: 'enableSingleSignOut', label: 'Signing out of Bunting also ends the session at the provider' },
    { name: 'idTokenSigningAlgorithm', label: 'Signatures of ID tokens' },
    {
      name: 'acrValues',
      label: 'Required authentication (acr)',
      hint: 'Space-separated; the provider must attest one of them. Empty for any',
    },
    { name: 'extraScopes', label: 'Further scopes', hint: 'Space-separated' },
    {
      name: 'trustEmails',
      label: 'Trust email addresses that the provider does not call verified',
      hint: 'Only for a provider at which people cannot choose their addresses',
    },
  ];
  return isReadOnly ? fields.map((field) => ({ ...field, isDisabled: true })) : fields;
}

/** Chooses a provider that many have, and fills in what is the same for all of its customers. */
function KnownProvider({ onChange }: { readonly onChange: (settings: Partial<OidcSettings>) => void }) {
  const [id, setId] = useState<string | null>(null);
  const [answer, setAnswer] = useState('');
  const provider = identityProviders.find((known) => known.id === id);
  const fillIn = (known: IdentityProvider, text: string): void => {
    setAnswer(text);
    onChange({ discoverUrl: addressFor(known, text) });
  };
  return (
    <>
      <Select
        label="Identity provider"
        placeholder="Another one"
        hint={provider?.help ?? 'Fills in below what is the same for everybody who uses it.'}
        options={identityProviders}
        value={id}
        onChange={(chosen) => {
          const known = identityProviders.find((one) => one.id === chosen);
          setId(chosen);
          if (known === undefined) return;
          onChange(known.settings);
          fillIn(known, '');
        }}
      />
      {provider?.asks !== undefined && (
        <TextField
          label={provider.asks.label}
          hint={`Such as ${provider.asks.example}`}
          value={answer}
          onChange={(text) => fillIn(provider, text)}
        />
      )}
    </>
  );
}

/** The settings of OpenID Connect, the URLs to enter at the provider, and a form that tries to discover the provider. */
export function SingleSignOn() {
  const settings = useQuery({ ...operationQuery(GetOidcSettings, {}), staleTime: Number.POSITIVE_INFINITY });
  return (
    <section className={layout['section']} aria-labelledby="sso">
      <h2 id="sso">Single sign-on with OpenID Connect</h2>
      <ClientUrls />
      <QueryResult query={settings}>
        {(stored) => (
          <>
            {stored.isReadOnly && (
              <Notice>The variables OIDC_* give these settings. Change them there, and restart the gateway.</Notice>
            )}
            <RequestBodyForm
              operation={SetOidcSettings}
              request={{}}
              fields={fieldsOf(stored)}
              {...(!stored.isReadOnly && {
                renderAbove: (_values: unknown, onChange: (changed: Partial<OidcSettings>) => void) => (
                  <KnownProvider onChange={onChange} />
                ),
              })}
              values={{ ...stored, secret: '' }}
              readStored={async () => ({ value: { ...(await call(GetOidcSettings, {})), secret: '' } })}
              notification={() => 'The settings of single sign-on are saved.'}
            />
            <TryProvider settings={stored} />
          </>
        )}
      </QueryResult>
    </section>
  );
}
