import { GetScimSettings, GetPasswordSettings, SetScimSettings, SetPasswordSettings } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { QueryResult, Loading } from '../../../components/content/query-result.tsx';
import { CopyableSecret } from '../../../components/content/copyable-secret.tsx';
import { signInSettingsMessages as text } from '../../../messages/administration/sign-in-settings.ts';
import { AdminPage } from '../admin-page.tsx';
import { usePublicUrl } from '../public-url.ts';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';

const SingleSignOn = lazyRouteComponent(() => import('./single-sign-on.tsx'), 'SingleSignOn');
const ScimTokenDialog = lazyRouteComponent(() => import('./scim-token-dialog.tsx'), 'ScimTokenDialog');

const Passwords = () => {
  const settings = useQuery(operationQuery(GetPasswordSettings, {}));
  const [isConfirming, setConfirming] = useState(false);
  return (
    <section className={layout['section']} aria-labelledby="passwords">
      <h2 id="passwords">{text.passwords}</h2>
      <QueryResult query={settings}>
        {({ disabled }) => (
          <>
            <p>{disabled ? text.passwordsOff : text.passwordsOn}</p>
            <div>
              <Button onPress={() => setConfirming(true)}>
                {disabled ? text.turnPasswordsOn : text.turnPasswordsOff}
              </Button>
            </div>
            {isConfirming && (
              <ConfirmOperationDialog
                title={disabled ? text.turnPasswordsOn : text.turnPasswordsOff}
                confirm={disabled ? text.turnPasswordsOn : text.turnPasswordsOff}
                isDangerous={!disabled}
                operation={SetPasswordSettings}
                request={{ body: { disabled: !disabled } }}
                notification={disabled ? text.passwordsAreOn : text.passwordsAreOff}
                onClose={() => setConfirming(false)}
              >
                <p>{disabled ? text.turnOnHelp : text.turnOffHelp}</p>
              </ConfirmOperationDialog>
            )}
          </>
        )}
      </QueryResult>
    </section>
  );
};

const Scim = () => {
  const settings = useQuery(operationQuery(GetScimSettings, {}));
  const { base } = usePublicUrl();
  // `first` stays open when the settings are read again and have a token: its dialog shows the token.
  const [openDialog, setOpenDialog] = useState<'first' | 'on' | 'off' | 'token' | undefined>();
  const close = (): void => setOpenDialog(undefined);
  return (
    <section className={layout['section']} aria-labelledby="scim">
      <h2 id="scim">{text.scim}</h2>
      <p className={layout['muted']}>{text.scimHelp}</p>
      <QueryResult query={settings}>
        {({ enabled, hasToken }) => (
          <>
            <p>{enabled ? text.scimOn : text.scimOff}</p>
            {enabled && (
              <>
                <p>{text.scimUrl}</p>
                <CopyableSecret label={text.scimUrlLabel} value={`${base}/scim/v2`} />
              </>
            )}
            <div className={styles['badges']}>
              <Button onPress={() => setOpenDialog(enabled ? 'off' : hasToken ? 'on' : 'first')}>
                {enabled ? text.turnScimOff : text.turnScimOn}
              </Button>
              {hasToken && <Button onPress={() => setOpenDialog('token')}>{text.newToken}</Button>}
            </div>
            {openDialog === 'on' && (
              <ConfirmOperationDialog
                title={text.turnScimOn}
                confirm={text.turnScimOn}
                operation={SetScimSettings}
                request={{ body: { enabled: true } }}
                notification={text.scimIsOn}
                onClose={close}
              >
                <p>{text.scimIsOnAgain}</p>
              </ConfirmOperationDialog>
            )}
            {openDialog === 'off' && (
              <ConfirmOperationDialog
                title={text.turnScimOff}
                confirm={text.turnScimOff}
                isDangerous
                operation={SetScimSettings}
                request={{ body: { enabled: false } }}
                notification={text.scimIsOff}
                onClose={close}
              >
                <p>{text.scimOffHelp}</p>
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
};

/** Single sign-on, passwords, and provisioning by an identity provider. */
export const SignInSettingsPage = () => (
  <AdminPage id="sign-in">
    <Suspense fallback={<Loading />}>
      <SingleSignOn />
    </Suspense>
    <Passwords />
    <Scim />
  </AdminPage>
);
