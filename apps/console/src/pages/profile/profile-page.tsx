import {
  ChangeOwnPassword,
  CreateOwnPat,
  DeleteOwnPat,
  EndOtherSessions,
  EndOwnSession,
  GetProfile,
  ListOwnPats,
  ListOwnSessions,
  ListOwnSlackAccounts,
  type Pat,
  type RequestOf,
  UnlinkOwnSlackAccount,
} from '@bunting/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { sendAfterSignIn, urlOf } from '../../api/call.ts';
import { operationQuery, useIsPerson, useMe, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { Button } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import { EmptyState, QueryResult } from '../../components/content/query-result.tsx';
import { Table } from '../../components/content/table.tsx';
import { Time } from '../../components/content/time.tsx';
import { CreateSecretDialog } from '../../components/dialogs/create-secret-dialog.tsx';
import { ConfirmOperationDialog } from '../../components/dialogs/confirm-operation-dialog.tsx';
import { FormDialog } from '../../components/dialogs/dialog.tsx';
import { BoundSelect, BoundTextField } from '../../components/forms/bound-fields.tsx';
import { instantAfterDays, showServerError, tokenLifetimes } from '../../components/forms/form-values.ts';
import { NewPasswordFields, PasswordField } from '../../components/forms/password-fields.tsx';
import layout from '../../components/layout/layout.module.css';
import { Page } from '../../components/layout/page.tsx';
import { notify, notifyError } from '../../shell/toasts.tsx';
import styles from './profile.module.css';
import { NotificationPreferences } from '../inbox/notification-preferences.tsx';
import { SessionTable } from './session-table.tsx';
import { SlackAccountTable } from './slack-account-table.tsx';

/** Changes the password of the user, which ends the sessions in all other browsers. */
function ChangePasswordDialog({ onClose }: { readonly onClose: () => void }) {
  const { control, handleSubmit, setError, formState } = useForm({
    defaultValues: { oldPassword: '', password: '', confirmPassword: '' },
  });
  const changePassword = useMutation({
    mutationFn: (body: RequestOf<typeof ChangeOwnPassword>['body']) =>
      sendAfterSignIn('POST', urlOf(ChangeOwnPassword, {}), { body }),
    onSuccess: () => {
      notify('Your password is changed. Other browsers are signed out.');
      onClose();
    },
  });
  const submit = handleSubmit(async (body) => {
    if (body.password !== body.confirmPassword)
      return setError('confirmPassword', { message: 'The two passwords differ.' });
    try {
      await changePassword.mutateAsync(body);
    } catch (error) {
      showServerError(error, ['oldPassword', 'password', 'confirmPassword'], setError);
    }
  });
  return (
    <FormDialog
      title="Change the password"
      onClose={onClose}
      onSubmit={submit}
      submit="Set the password"
      isPending={formState.isSubmitting}
    >
      {formState.errors.root?.message !== undefined && <Notice tone="danger">{formState.errors.root.message}</Notice>}
      <PasswordField control={control} name="oldPassword" label="Present password" autoFocus />
      <NewPasswordFields control={control} password="password" repeatedPassword="confirmPassword" />
    </FormDialog>
  );
}

function CreateTokenDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <CreateSecretDialog
      title="Create a token"
      submit="Create"
      operation={CreateOwnPat}
      values={{ description: '', days: '90' }}
      request={({ description, days }) => ({
        body: { description: String(description), expiresAt: instantAfterDays(days) ?? null },
      })}
      secret={({ secret }) => ({
        title: 'The token is created',
        label: 'Personal access token',
        value: secret,
        help: 'Copy it now: it is shown only this once.',
      })}
      onClose={onClose}
    >
      {(control) => (
        <>
          <BoundTextField
            control={control}
            name="description"
            label="Used for"
            hint="So that you know later what stops working when you remove it"
            required="Enter what the token is for."
            autoFocus
          />
          <BoundSelect control={control} name="days" label="Works for" options={tokenLifetimes} />
        </>
      )}
    </CreateSecretDialog>
  );
}

function PersonalAccessTokens() {
  const pats = useQuery(operationQuery(ListOwnPats, {}));
  const [isCreating, setCreating] = useState(false);
  const [tokenToRemove, setTokenToRemove] = useState<Pat | undefined>();
  return (
    <section className={layout['section']} aria-labelledby="keys">
      <div className={layout['bar']}>
        <h2 id="keys">Personal access tokens</h2>
        <Button icon="add" onPress={() => setCreating(true)}>
          Create a token
        </Button>
      </div>
      <QueryResult query={pats}>
        {({ pats: rows }) =>
          rows.length === 0 ? (
            <EmptyState title="No tokens yet">
              A personal access token lets a script do what you may do, with your permissions.
            </EmptyState>
          ) : (
            <Table
              label="Personal access tokens"
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                { title: 'Used for', cell: ({ description }) => description },
                { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
                { title: 'Last used', cell: ({ seenAt }) => <Time at={seenAt} /> },
                { title: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
                {
                  title: 'Actions',
                  isTitleHidden: true,
                  cell: (row) => (
                    <Button size="small" onPress={() => setTokenToRemove(row)}>
                      Remove
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </QueryResult>
      {isCreating && <CreateTokenDialog onClose={() => setCreating(false)} />}
      {tokenToRemove !== undefined && (
        <ConfirmOperationDialog
          title={`Remove the token “${tokenToRemove.description}”?`}
          confirm="Remove"
          isDangerous
          operation={DeleteOwnPat}
          request={{ params: { id: tokenToRemove.id } }}
          notification="The token is removed."
          onClose={() => setTokenToRemove(undefined)}
        >
          <p>What uses it stops working immediately.</p>
        </ConfirmOperationDialog>
      )}
    </section>
  );
}

function Sessions() {
  const sessions = useQuery(operationQuery(ListOwnSessions, {}));
  const endSession = useOperationMutation(EndOwnSession, 'handled');
  const endOthers = useOperationMutation(EndOtherSessions, 'handled');
  /** Notifies the user of the success or failure of a request. */
  const notifyOfResult = async (request: Promise<unknown>, success: string): Promise<void> => {
    try {
      await request;
      notify(success);
    } catch (error) {
      notifyError(error);
    }
  };
  return (
    <section className={layout['section']} aria-labelledby="sessions">
      <div className={layout['bar']}>
        <h2 id="sessions">Signed-in browsers</h2>
        {(sessions.data?.sessions.length ?? 0) > 1 && (
          <Button onPress={() => void notifyOfResult(endOthers.mutateAsync({}), 'All other browsers are signed out.')}>
            Sign out all others
          </Button>
        )}
      </div>
      <QueryResult query={sessions}>
        {({ sessions: rows }) =>
          rows.length === 0 ? (
            <p>You are signed in with a key, and with no browser.</p>
          ) : (
            <SessionTable
              sessions={rows}
              onEnd={(id) =>
                void notifyOfResult(
                  endSession.mutateAsync({ params: { sessionId: id } }),
                  'That browser is signed out.',
                )
              }
            />
          )
        }
      </QueryResult>
    </section>
  );
}

/** The Slack accounts that act as the user. They are linked from Slack. */
function SlackAccounts() {
  const accounts = useQuery(operationQuery(ListOwnSlackAccounts, {}));
  const unlink = useOperationMutation(UnlinkOwnSlackAccount, 'notified', () =>
    notify('The Slack account is unlinked.'),
  );
  return (
    <section className={layout['section']} aria-labelledby="slack">
      <h2 id="slack">Slack accounts</h2>
      <QueryResult query={accounts}>
        {({ slackAccounts: rows }) =>
          rows.length === 0 ? (
            <p>None. Press a button in a message about a change request in Slack to link your account.</p>
          ) : (
            <SlackAccountTable accounts={rows} onUnlink={(id) => unlink.mutate({ params: { id } })} />
          )
        }
      </QueryResult>
    </section>
  );
}

/** The profile of the user: names and role, the browsers in which the user is signed in, and the personal access tokens. */
export function ProfilePage() {
  const me = useMe();
  const isPerson = useIsPerson();
  const profile = useQuery(operationQuery(GetProfile, {}));
  const [isChangingPassword, setChangingPassword] = useState(false);
  return (
    <Page
      title="Profile"
      actions={isPerson && <Button onPress={() => setChangingPassword(true)}>Change the password</Button>}
    >
      <QueryResult query={me}>
        {({ user }) => (
          <>
            <dl className={styles['facts']}>
              {[
                ['Name', user.name ?? user.username],
                ['Username', user.username],
                ['Email', user.email],
                ['Role', profile.data?.rootRole.name],
              ].map(
                ([label, value]) =>
                  value != null &&
                  value !== '' && (
                    <div key={label}>
                      <dt>{label}</dt>
                      <dd>{value}</dd>
                    </div>
                  ),
              )}
            </dl>
            {user.isAPI ? (
              <Notice>
                You are signed in with an API key that belongs to no user, so there are no sessions and no personal
                keys.
              </Notice>
            ) : (
              <>
                {isPerson && <Sessions />}
                {isPerson && <NotificationPreferences />}
                <PersonalAccessTokens />
                {isPerson && <SlackAccounts />}
              </>
            )}
          </>
        )}
      </QueryResult>
      {isChangingPassword && <ChangePasswordDialog onClose={() => setChangingPassword(false)} />}
    </Page>
  );
}
