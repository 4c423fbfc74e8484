import { CreateScimToken, SetScimSettings } from '@bunting/contracts';
import { signInSettingsMessages as text } from '../../../messages/administration/sign-in-settings.ts';
import { CreateSecretDialog } from '../../../components/dialogs/create-secret-dialog.tsx';

interface ScimTokenProps {
  /** whether SCIM is turned on for the first time, which creates a token */
  readonly isFirst: boolean;
  readonly onClose: () => void;
}

const shownToken = (title: string, token: string) => ({
  title,
  label: text.scimToken,
  value: token,
  help: text.scimTokenHelp,
});

/** Creates the token with which the identity provider calls SCIM, and shows it once. */
export const ScimTokenDialog = ({ isFirst, onClose }: ScimTokenProps) =>
  isFirst ? (
    <CreateSecretDialog
      title={text.turnScimOn}
      submit={text.turnScimOn}
      operation={SetScimSettings}
      request={() => ({ body: { enabled: true } })}
      secret={({ token = '' }) => shownToken(text.scimIsOn, token)}
      onClose={onClose}
    >
      {() => <p>{text.scimOnHelp}</p>}
    </CreateSecretDialog>
  ) : (
    <CreateSecretDialog
      title={text.newToken}
      submit={text.newToken}
      operation={CreateScimToken}
      request={() => ({})}
      secret={({ token }) => shownToken(text.newTokenMade, token)}
      onClose={onClose}
    >
      {() => <p>{text.newTokenHelp}</p>}
    </CreateSecretDialog>
  );
