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
import { CopyableSecret } from '../../../components/content/copyable-secret.tsx';
import { signInSettingsMessages as text } from '../../../messages/administration/sign-in-settings.ts';
import { usePublicUrl } from '../public-url.ts';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';

/** The endpoints and abilities that a provider has published. */
const ProviderDetails = ({
  provider,
  algorithm,
}: {
  readonly provider: DiscoveredProvider;
  readonly algorithm: string;
}) => {
  const pkce = { true: text.pkceYes, false: text.pkceNo, null: text.pkceUnknown }[String(provider.supportsPkce)];
  const isAlgorithmUnsupported =
    provider.signingAlgorithms.length > 0 && !provider.signingAlgorithms.includes(algorithm);
  return (
    <div role="status" className={layout['section']}>
      <Badge tone="good">{text.found(provider.issuer)}</Badge>
      {isAlgorithmUnsupported && <Notice tone="warning">{text.wrongAlgorithm(algorithm)}</Notice>}
      <dl className={styles['pairs']}>
        {[
          [text.issuer, provider.issuer],
          [text.signInAt, provider.authorizationEndpoint],
          [text.tokensAt, provider.tokenEndpoint],
          [text.signOutAt, provider.endSessionEndpoint],
          [text.signedWith, provider.signingAlgorithms.join(', ')],
          [text.scopes, provider.scopes.join(' ')],
          [text.pkce, pkce],
        ].map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value || text.unknown}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
};

/** Tries to discover a provider: the one of the stored settings, or another URL before it is stored. */
const TryProvider = ({ settings }: { readonly settings: OidcSettings }) => {
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
      <TextField label={text.testUrl} hint={text.testHelp} type="url" value={url} onChange={setUrl} />
      <div>
        <Button type="submit" isPending={discover.isPending}>
          {text.test}
        </Button>
      </div>
      {discover.error !== null && <ErrorNotice error={discover.error} />}
      {discover.data !== undefined && (
        <ProviderDetails provider={discover.data} algorithm={settings.idTokenSigningAlgorithm} />
      )}
    </form>
  );
};

/** The URLs of Bunting that the provider must know. */
const ClientUrls = () => {
  const { base, isConfigured } = usePublicUrl();
  return (
    <>
      {!isConfigured && <Notice tone="warning">{text.noPublicUrl}</Notice>}
      <p>{text.redirect}</p>
      <CopyableSecret label={text.redirectLabel} value={`${base}/auth/oidc/callback`} />
      <p>{text.logoutUrl}</p>
      <CopyableSecret label={text.logoutLabel} value={`${base}/`} />
    </>
  );
};

const fieldsOf = ({ isReadOnly, hasSecret }: OidcSettings): readonly RequestBodyField[] => {
  const fields: readonly RequestBodyField[] = [
    { name: 'enabled', label: text.enabled },
    { name: 'discoverUrl', label: text.discoverUrl, hint: text.discoverUrlHint },
    { name: 'clientId', label: text.clientId },
    {
      name: 'secret',
      label: text.secret,
      render: (value, onChange) => (
        <TextField
          label={text.secret}
          hint={hasSecret ? text.secretStored : text.secretMissing}
          type="password"
          autoComplete="new-password"
          value={String(value ?? '')}
          onChange={onChange}
          isDisabled={isReadOnly}
        />
      ),
    },
    { name: 'autoCreate', label: text.autoCreate },
    { name: 'defaultRootRole', label: text.defaultRootRole },
    { name: 'emailDomains', label: text.emailDomains, hint: text.emailDomainsHint },
    { name: 'enableGroupSyncing', label: text.enableGroupSyncing },
    { name: 'groupJsonPath', label: text.groupJsonPath, hint: text.groupJsonPathHint },
    { name: 'addGroupsScope', label: text.addGroupsScope },
    { name: 'enableSingleSignOut', label: text.enableSingleSignOut },
    { name: 'idTokenSigningAlgorithm', label: text.algorithm },
    { name: 'acrValues', label: text.acrValues, hint: text.acrValuesHint },
    { name: 'extraScopes', label: text.extraScopes, hint: text.extraScopesHint },
    { name: 'trustEmails', label: text.trustEmails, hint: text.trustEmailsHint },
  ];
  return isReadOnly ? fields.map((field) => ({ ...field, isDisabled: true })) : fields;
};

/** The settings of OpenID Connect, the URLs to enter at the provider, and a form that tries to discover the provider. */
export const SingleSignOn = () => {
  const settings = useQuery({ ...operationQuery(GetOidcSettings, {}), staleTime: Number.POSITIVE_INFINITY });
  return (
    <section className={layout['section']} aria-labelledby="sso">
      <h2 id="sso">{text.sso}</h2>
      <ClientUrls />
      <QueryResult query={settings}>
        {(stored) => (
          <>
            {stored.isReadOnly && <Notice>{text.readOnly}</Notice>}
            <RequestBodyForm
              operation={SetOidcSettings}
              request={{}}
              fields={fieldsOf(stored)}
              values={{ ...stored, secret: '' }}
              readStored={async () => ({ value: { ...(await call(GetOidcSettings, {})), secret: '' } })}
              notification={() => text.saved}
            />
            <TryProvider settings={stored} />
          </>
        )}
      </QueryResult>
    </section>
  );
};
