import {
  CreateOwnPat,
  DeleteOwnPat,
  EndOtherSessions,
  EndOwnSession,
  GetProfile,
  ListOwnPats,
  ListOwnSessions,
  type Pat,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { operationQuery, useMe, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { Button } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import { Table } from '../../components/content/table.tsx';
import { QueryResult, EmptyState } from '../../components/content/query-result.tsx';
import { ConfirmDialog } from '../../components/dialogs/dialog.tsx';
import { BoundSelect, BoundTextField } from '../../components/forms/bound-fields.tsx';
import { Page } from '../../components/layout/page.tsx';
import { CreateSecretDialog } from '../../components/dialogs/create-secret-dialog.tsx';
import { optionsOfPairs, instantAfterDays } from '../../components/forms/form-values.ts';
import { Time } from '../../components/content/time.tsx';
import { accountMessages } from '../../messages/account.ts';
import { profileMessages } from '../../messages/profile.ts';
import { sharedMessages } from '../../messages/shared.ts';
import { notify, notifyError } from '../../shell/toasts.tsx';
import { SessionTable } from './session-table.tsx';
import { ChangePasswordDialog } from './change-password-dialog.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './profile.module.css';

const text = profileMessages;

const CreateTokenDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <CreateSecretDialog
    title={text.createToken}
    submit={sharedMessages.common.create}
    operation={CreateOwnPat}
    values={{ description: '', days: '90' }}
    request={({ description, days }) => ({
      body: { description: String(description), expiresAt: instantAfterDays(days) ?? null },
    })}
    secret={({ secret }) => ({ title: text.tokenCreated, label: text.token, value: secret, help: text.tokenOnce })}
    onClose={onClose}
  >
    {(control) => (
      <>
        <BoundTextField
          control={control}
          name="description"
          label={text.tokenPurpose}
          hint={text.tokenPurposeHint}
          required={text.tokenPurposeMissing}
          autoFocus
        />
        <BoundSelect control={control} name="days" label={text.tokenLasts} options={optionsOfPairs(text.tokenDays)} />
      </>
    )}
  </CreateSecretDialog>
);

const PersonalAccessTokens = () => {
  const pats = useQuery(operationQuery(ListOwnPats, {}));
  const remove = useOperationMutation(DeleteOwnPat, 'handled');
  const [isCreating, setCreating] = useState(false);
  const [tokenToRemove, setTokenToRemove] = useState<Pat | undefined>();
  const removeToken = async (id: number): Promise<void> => {
    try {
      await remove.mutateAsync({ params: { id } });
      notify(text.tokenRemoved);
      setTokenToRemove(undefined);
    } catch (error) {
      notifyError(error);
    }
  };
  return (
    <section className={layout['section']} aria-labelledby="keys">
      <div className={layout['bar']}>
        <h2 id="keys">{text.tokens}</h2>
        <Button icon="add" onPress={() => setCreating(true)}>
          {text.createToken}
        </Button>
      </div>
      <QueryResult query={pats}>
        {({ pats: rows }) =>
          rows.length === 0 ? (
            <EmptyState title={text.noTokens}>{text.noTokensHelp}</EmptyState>
          ) : (
            <Table
              label={text.tokens}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                { id: 'what', title: text.tokenPurpose, cell: ({ description }) => description },
                { id: 'created', title: text.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
                { id: 'seen', title: text.lastUsed, cell: ({ seenAt }) => <Time at={seenAt} /> },
                { id: 'expires', title: text.expires, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
                {
                  id: 'remove',
                  title: sharedMessages.common.actions,
                  cell: (row) => (
                    <Button size="small" onPress={() => setTokenToRemove(row)}>
                      {text.removeToken}
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
        <ConfirmDialog
          title={text.removeToken}
          confirm={text.removeToken}
          isDangerous
          isPending={remove.isPending}
          onConfirm={() => void removeToken(tokenToRemove.id)}
          onClose={() => setTokenToRemove(undefined)}
        >
          <p>{text.removeTokenHelp(tokenToRemove.description)}</p>
        </ConfirmDialog>
      )}
    </section>
  );
};

const Sessions = () => {
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
        <h2 id="sessions">{text.sessions}</h2>
        {(sessions.data?.sessions.length ?? 0) > 1 && (
          <Button onPress={() => void notifyOfResult(endOthers.mutateAsync({}), text.otherSessionsEnded)}>
            {text.endOtherSessions}
          </Button>
        )}
      </div>
      <QueryResult query={sessions}>
        {({ sessions: rows }) =>
          rows.length === 0 ? (
            <p>{text.noSessions}</p>
          ) : (
            <SessionTable
              sessions={rows}
              onEnd={(id) =>
                void notifyOfResult(endSession.mutateAsync({ params: { sessionId: id } }), text.sessionEnded)
              }
            />
          )
        }
      </QueryResult>
    </section>
  );
};

/** The profile of the user: names and role, the browsers in which the user is signed in, and the personal access tokens. */
export const ProfilePage = () => {
  const me = useMe();
  const profile = useQuery(operationQuery(GetProfile, {}));
  const [isChangingPassword, setChangingPassword] = useState(false);
  return (
    <Page
      title={text.title}
      actions={
        me.data?.user.isAPI === false && (
          <Button onPress={() => setChangingPassword(true)}>{accountMessages.changePassword}</Button>
        )
      }
    >
      <QueryResult query={me}>
        {({ user }) => (
          <>
            <dl className={styles['facts']}>
              {[
                [text.name, user.name ?? user.username],
                [text.username, user.username],
                [text.email, user.email],
                [text.role, profile.data?.rootRole.name],
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
              <Notice>{text.signedInByKey}</Notice>
            ) : (
              <>
                <Sessions />
                <PersonalAccessTokens />
              </>
            )}
          </>
        )}
      </QueryResult>
      {isChangingPassword && <ChangePasswordDialog onClose={() => setChangingPassword(false)} />}
    </Page>
  );
};
