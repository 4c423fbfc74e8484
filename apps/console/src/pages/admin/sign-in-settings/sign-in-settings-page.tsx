import {
  GetOidcSettings,
  GetScimSettings,
  GetPasswordSettings,
  SetScimSettings,
  SetPasswordSettings,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { lazyPart } from '../../../components/content/lazy-part.tsx';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { QueryResult, Loading } from '../../../components/content/query-result.tsx';
import { CopyableSecret } from '../../../components/content/copyable-secret.tsx';
import { AdminPage } from '../admin-page.tsx';
import { usePublicUrl } from '../public-url.ts';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';

const SingleSignOn = lazyPart(async () => (await import('./single-sign-on.tsx')).SingleSignOn);
const ScimTokenDialog = lazyPart(async () => (await import('./scim-token-dialog.tsx')).ScimTokenDialog);

function Passwords() {
  const settings = useQuery(operationQuery(GetPasswordSettings, {}));
  // As the form above it reads them: they are not read again under what is entered there.
  const oidc = useQuery({ ...operationQuery(GetOidcSettings, {}), staleTime: Number.POSITIVE_INFINITY });
  const [isConfirming, setConfirming] = useState(false);
  return (
    <section className={layout['section']} aria-labelledby="passwords">
      <h2 id="passwords">Passwords</h2>
      <QueryResult query={settings}>
        {({ disabled }) => (
          <>
            <p>
              {disabled
                ? 'People cannot sign in with a password, only through the provider.'
                : 'People can sign in with a password.'}
            </p>
            {disabled || oidc.data?.enabled === true ? (
              <div>
                <Button onPress={() => setConfirming(true)}>
                  {disabled ? 'Turn passwords on' : 'Turn passwords off'}
                </Button>
              </div>
            ) : (
              oidc.data !== undefined && (
                <p className={layout['small']}>They can be turned off once people can sign in through a provider.</p>
              )
            )}
            {isConfirming && (
              <ConfirmOperationDialog
                title={disabled ? 'Turn passwords on' : 'Turn passwords off'}
                confirm={disabled ? 'Turn passwords on' : 'Turn passwords off'}
                isDangerous={!disabled}
                operation={SetPasswordSettings}
                request={{ body: { disabled: !disabled } }}
                notification={disabled ? 'Passwords are on.' : 'Passwords are off.'}
                onClose={() => setConfirming(false)}
              >
                <p>
                  {disabled
                    ? 'People who have a password can sign in with it again.'
                    : 'People sign in through the provider only. When the provider fails, an admin token is the way in: keep one.'}
                </p>
              </ConfirmOperationDialog>
            )}
          </>
        )}
      </QueryResult>
    </section>
  );
}

function Scim() {
  const settings = useQuery(operationQuery(GetScimSettings, {}));
  const { base } = usePublicUrl();
  // `first` stays open when the settings are read again and have a token: its dialog shows the token.
  const [openDialog, setOpenDialog] = useState<'first' | 'on' | 'off' | 'token' | undefined>();
  const close = (): void => setOpenDialog(undefined);
  return (
    <section className={layout['section']} aria-labelledby="scim">
      <h2 id="scim">Provisioning with SCIM</h2>
      <p className={layout['muted']}>
        An identity provider creates, changes and removes users and groups, without waiting for anyone to sign in.
      </p>
      <QueryResult query={settings}>
        {({ enabled, hasToken }) => (
          <>
            <p>{enabled ? 'SCIM is on.' : 'SCIM is off.'}</p>
            {enabled && (
              <>
                <p>Address for the identity provider:</p>
                <CopyableSecret label="Address of SCIM" value={`${base}/scim/v2`} />
              </>
            )}
            <div className={styles['badges']}>
              <Button onPress={() => setOpenDialog(enabled ? 'off' : hasToken ? 'on' : 'first')}>
                {enabled ? 'Turn SCIM off' : 'Turn SCIM on'}
              </Button>
              {hasToken && <Button onPress={() => setOpenDialog('token')}>Create a new token</Button>}
            </div>
            {openDialog === 'on' && (
              <ConfirmOperationDialog
                title="Turn SCIM on"
                confirm="Turn SCIM on"
                operation={SetScimSettings}
                request={{ body: { enabled: true } }}
                notification="SCIM is on"
                onClose={close}
              >
                <p>The token that the identity provider has works again.</p>
              </ConfirmOperationDialog>
            )}
            {openDialog === 'off' && (
              <ConfirmOperationDialog
                title="Turn SCIM off"
                confirm="Turn SCIM off"
                isDangerous
                operation={SetScimSettings}
                request={{ body: { enabled: false } }}
                notification="SCIM is off. The identity provider gets no more answers."
                onClose={close}
              >
                <p>The identity provider gets no more answers. Users and groups stay as they are.</p>
              </ConfirmOperationDialog>
            )}
          </>
        )}
      </QueryResult>
      <Suspense>
        {(openDialog === 'first' || openDialog === 'token') && (
          <ScimTokenDialog isFirst={openDialog === 'first'} onClose={close} />
        )}
      </Suspense>
    </section>
  );
}

/** Single sign-on, passwords, and provisioning by an identity provider. */
export function SignInSettingsPage() {
  return (
    <AdminPage id="sign-in">
      <Suspense fallback={<Loading />}>
        <SingleSignOn />
      </Suspense>
      <Passwords />
      <Scim />
    </AdminPage>
  );
}
