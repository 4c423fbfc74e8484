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
import {
  type FormSection,
  type RequestBodyField,
  RequestBodyForm,
} from '../../../components/forms/request-body-form.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../../components/content/notice.tsx';
import { QueryResult } from '../../../components/content/query-result.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { TextField } from '../../../components/forms/fields.tsx';
import { Select } from '../../../components/forms/selects.tsx';
import { CopyableSecret } from '../../../components/content/copyable-secret.tsx';
import { usePublicUrl } from '../public-url.ts';
import { addressFor, type IdentityProvider, identityProviders, providerOf } from './identity-providers.ts';
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

/** Tries to discover the provider of the form, before or after its address is stored. */
function TryProvider({ url, algorithm }: { readonly url: string; readonly algorithm: string }) {
  const discover = useOperationMutation(DiscoverOidcProvider, 'handled');
  return (
    <>
      <div>
        <Button
          isPending={discover.isPending}
          isDisabled={url.trim() === ''}
          onPress={() => discover.mutate({ body: { discoverUrl: url.trim() } })}
        >
          Test the provider
        </Button>
      </div>
      <ErrorNotice error={discover.error} />
      {discover.data !== undefined && <ProviderDetails provider={discover.data} algorithm={algorithm} />}
    </>
  );
}

/** A URL of Bunting that is registered at the provider. */
function RegisteredUrl({ label, path }: { readonly label: string; readonly path: string }) {
  const { base } = usePublicUrl();
  return (
    <div className={styles['registered']}>
      <p>{label}</p>
      <CopyableSecret label={label} value={`${base}${path}`} />
    </div>
  );
}

const other = { id: 'other', label: 'Another one' };

interface ChosenProviderProps {
  readonly provider: IdentityProvider | undefined;
  readonly onChange: (provider: IdentityProvider | undefined) => void;
}

/** Chooses a provider that many have, whose settings are the same for all of its customers. */
function ChosenProvider({ provider, onChange }: ChosenProviderProps) {
  return (
    <Select
      label="Identity provider"
      hint={provider?.help ?? 'Any that knows OpenID Connect: register Bunting there as a web application.'}
      options={[...identityProviders, other]}
      value={(provider ?? other).id}
      onChange={(id) => onChange(identityProviders.find((one) => one.id === id))}
    />
  );
}

interface ProviderAnswerProps {
  readonly provider: IdentityProvider;
  readonly address: string;
  readonly onChange: (address: string) => void;
  readonly error: string | undefined;
}

/** Asks for the one part of a provider's address that differs between its customers. */
function ProviderAnswer({ provider, address, onChange, error }: ProviderAnswerProps) {
  const [answer, setAnswer] = useState(() => providerOf(address)?.answer ?? '');
  if (provider.asks === undefined) return error !== undefined && <Notice tone="danger">{error}</Notice>;
  return (
    <TextField
      label={provider.asks.label}
      hint={address === '' ? `Such as ${provider.asks.example}` : `Its address is ${address}`}
      value={answer}
      onChange={(text) => {
        setAnswer(text);
        onChange(addressFor(provider, text));
      }}
      error={error}
    />
  );
}

type Fields = readonly (RequestBodyField | FormSection)[];

function fieldsOf(
  { isReadOnly, hasSecret, idTokenSigningAlgorithm }: OidcSettings,
  { provider, onChange }: ChosenProviderProps,
): Fields {
  const changeable: Fields = [
    {
      title: 'The provider',
      renderAbove: (_values, change) => (
        <>
          {!isReadOnly && (
            <ChosenProvider
              provider={provider}
              onChange={(chosen) => {
                onChange(chosen);
                if (chosen !== undefined) change({ ...chosen.settings, discoverUrl: addressFor(chosen, '') });
              }}
            />
          )}
          <RegisteredUrl label="Redirect address" path="/auth/oidc/callback" />
        </>
      ),
      fields: [
        {
          name: 'discoverUrl',
          label: 'Address of the provider',
          hint: 'Its issuer, such as https://id.example.org/realms/main',
          ...(provider !== undefined &&
            !isReadOnly && {
              render: (value, change, error) => (
                <ProviderAnswer
                  key={provider.id}
                  provider={provider}
                  address={String(value ?? '')}
                  onChange={change}
                  error={error}
                />
              ),
            }),
        },
        { name: 'clientId', label: 'Client id' },
        {
          name: 'secret',
          label: 'Client secret',
          render: (value, change, error) => (
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
              onChange={change}
              isDisabled={isReadOnly}
              error={error}
            />
          ),
        },
      ],
      renderBelow: ({ discoverUrl }) => (
        <TryProvider url={String(discoverUrl ?? '')} algorithm={idTokenSigningAlgorithm} />
      ),
    },
    {
      title: 'Who may sign in',
      fields: [
        { name: 'emailDomains', label: 'Domains of email addresses', hint: 'Comma-separated; empty for every domain' },
        {
          name: 'trustEmails',
          label: 'Trust email addresses that the provider does not call verified',
          hint: 'Only for a provider at which people cannot choose their addresses',
        },
        { name: 'autoCreate', label: 'Create a user at the first sign-in' },
        { name: 'defaultRootRole', label: 'Root role of new users', isShown: ({ autoCreate }) => autoCreate === true },
      ],
    },
    {
      title: 'Groups',
      fields: [
        { name: 'enableGroupSyncing', label: 'Bring groups in line at each sign-in' },
        {
          name: 'groupJsonPath',
          label: 'Claim with the groups',
          hint: 'Such as groups or realm_access.roles',
          isShown: ({ enableGroupSyncing }) => enableGroupSyncing === true,
        },
        {
          name: 'addGroupsScope',
          label: 'Request the scope groups',
          isShown: ({ enableGroupSyncing }) => enableGroupSyncing === true,
        },
      ],
    },
    {
      title: 'Advanced',
      isFolded: true,
      fields: [
        { name: 'enableSingleSignOut', label: 'Signing out of Bunting also ends the session at the provider' },
        { name: 'idTokenSigningAlgorithm', label: 'Signatures of ID tokens' },
        {
          name: 'acrValues',
          label: 'Required authentication (acr)',
          hint: 'Space-separated; the provider must attest one of them. Empty for any',
        },
        { name: 'extraScopes', label: 'Further scopes', hint: 'Space-separated' },
      ],
      renderBelow: () => <RegisteredUrl label="Address after signing out" path="/" />,
    },
    { name: 'enabled', label: 'People can sign in through the provider' },
  ];
  const disabled = (field: RequestBodyField): RequestBodyField => ({ ...field, isDisabled: true });
  return isReadOnly
    ? changeable.map((one) => ('fields' in one ? { ...one, fields: one.fields.map(disabled) } : disabled(one)))
    : changeable;
}

/** The form of the settings, whose first choice decides what it asks for. */
function SettingsForm({ stored }: { readonly stored: OidcSettings }) {
  const [provider, onChange] = useState(() => providerOf(stored.discoverUrl)?.provider);
  return (
    <RequestBodyForm
      operation={SetOidcSettings}
      request={{}}
      fields={fieldsOf(stored, { provider, onChange })}
      values={{ ...stored, secret: '' }}
      readStored={async () => ({ value: { ...(await call(GetOidcSettings, {})), secret: '' } })}
      notification={() => 'The settings of single sign-on are saved.'}
    />
  );
}

/** The settings of OpenID Connect, the URLs to enter at the provider, and a test of the provider. */
export function SingleSignOn() {
  const settings = useQuery({ ...operationQuery(GetOidcSettings, {}), staleTime: Number.POSITIVE_INFINITY });
  const { isConfigured } = usePublicUrl();
  return (
    <section className={layout['section']} aria-labelledby="sso">
      <h2 id="sso">Single sign-on with OpenID Connect</h2>
      {!isConfigured && (
        <Notice tone="warning">
          GATEWAY_PUBLIC_URL is not set, so the address of this page is shown. Set it, so that the provider sends people
          to the right one.
        </Notice>
      )}
      <QueryResult query={settings}>
        {(stored) => (
          <>
            {stored.isReadOnly && (
              <Notice>The variables OIDC_* give these settings. Change them there, and restart the gateway.</Notice>
            )}
            <SettingsForm stored={stored} />
          </>
        )}
      </QueryResult>
    </section>
  );
}
