import { CreateScimToken, SetScimSettings } from '@bunting/contracts';
import { CreateSecretDialog } from '../../../components/dialogs/create-secret-dialog.tsx';

interface ScimTokenProps {
  /** whether SCIM is turned on for the first time, which creates a token */
  readonly isFirst: boolean;
  readonly onClose: () => void;
}

function shownToken(title: string, token: string) {
  return {
    title,
    label: 'Token of SCIM',
    value: token,
    help: 'Give it to the identity provider now: it is shown only this once.',
  };
}

/** Creates the token with which the identity provider calls SCIM, and shows it once. */
export function ScimTokenDialog({ isFirst, onClose }: ScimTokenProps) {
  return isFirst ? (
    <CreateSecretDialog
      title="Turn SCIM on"
      submit="Turn SCIM on"
      operation={SetScimSettings}
      request={() => ({ body: { enabled: true } })}
      secret={({ token = '' }) => shownToken('SCIM is on', token)}
      onClose={onClose}
    >
      {() => (
        <p>
          The identity provider can manage users and groups with its token. The first time, a token is created and
          shown.
        </p>
      )}
    </CreateSecretDialog>
  ) : (
    <CreateSecretDialog
      title="Create a new token"
      submit="Create a new token"
      operation={CreateScimToken}
      request={() => ({})}
      secret={({ token }) => shownToken('The new token of SCIM', token)}
      onClose={onClose}
    >
      {() => (
        <p>
          The present token stops working immediately, and with it provisioning, until the identity provider has the new
          one.
        </p>
      )}
    </CreateSecretDialog>
  );
}
