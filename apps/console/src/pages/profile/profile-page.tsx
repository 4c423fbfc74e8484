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
import { operationQuery, useOperationMutation, useMe } from '../../api/queries.ts';
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

const CreateKey = ({ onClose }: { readonly onClose: () => void }) => (
  <CreateSecretDialog
    title={text.createKey}
    submit={sharedMessages.common.create}
    operation={CreateOwnPat}
    invalidates={[ListOwnPats]}
    values={{ description: '', days: '90' }}
    request={({ description, days }) => ({
      body: { description: String(description), expiresAt: instantAfterDays(days) ?? null },
    })}
    secret={({ secret }) => ({ title: text.keyCreated, label: text.key, value: secret, help: text.keyOnce })}
    onClose={onClose}
  >
    {(control) => (
      <>
        <BoundTextField
          control={control}
          name="description"
          label={text.keyPurpose}
          hint={text.keyPurposeHint}
          required={text.keyPurposeMissing}
          autoFocus
        />
        <BoundSelect control={control} name="days" label={text.keyLasts} options={optionsOfPairs(text.keyDays)} />
      </>
    )}
  </CreateSecretDialog>
);

const Keys = () => {
  const pats = useQuery(operationQuery(ListOwnPats, {}));
  const remove = useOperationMutation(DeleteOwnPat, [ListOwnPats]);
  const [isCreating, setCreating] = useState(false);
  const [removed, setRemoved] = useState<Pat | undefined>();
  const confirm = async (id: number): Promise<void> => {
    try {
      await remove.mutateAsync({ params: { id } });
      notify(text.keyRemoved);
      setRemoved(undefined);
    } catch (error) {
      notifyError(error);
    }
  };
  return (
    <section className={layout['section']} aria-labelledby="keys">
      <div className={layout['bar']}>
        <h2 id="keys">{text.keys}</h2>
        <Button icon="add" onPress={() => setCreating(true)}>
          {text.createKey}
        </Button>
      </div>
      <QueryResult query={pats}>
        {({ pats: rows }) =>
          rows.length === 0 ? (
            <EmptyState title={text.noKeys}>{text.noKeysHelp}</EmptyState>
          ) : (
            <Table
              label={text.keys}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                { id: 'what', title: text.keyPurpose, cell: ({ description }) => description },
                { id: 'created', title: text.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
                { id: 'seen', title: text.lastUsed, cell: ({ seenAt }) => <Time at={seenAt} /> },
                { id: 'expires', title: text.expires, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
                {
                  id: 'remove',
                  title: sharedMessages.common.actions,
                  cell: (row) => (
                    <Button size="small" onPress={() => setRemoved(row)}>
                      {text.removeKey}
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </QueryResult>
      {isCreating && <CreateKey onClose={() => setCreating(false)} />}
      {removed !== undefined && (
        <ConfirmDialog
          title={text.removeKey}
          confirm={text.removeKey}
          isDangerous
          isPending={remove.isPending}
          onConfirm={() => void confirm(removed.id)}
          onClose={() => setRemoved(undefined)}
        >
          <p>{text.removeKeyHelp(removed.description)}</p>
        </ConfirmDialog>
      )}
    </section>
  );
};

const Sessions = () => {
  const sessions = useQuery(operationQuery(ListOwnSessions, {}));
  const end = useOperationMutation(EndOwnSession, [ListOwnSessions]);
  const endOthers = useOperationMutation(EndOtherSessions, [ListOwnSessions]);
  const run = async (job: Promise<unknown>, done: string): Promise<void> => {
    try {
      await job;
      notify(done);
    } catch (error) {
      notifyError(error);
    }
  };
  return (
    <section className={layout['section']} aria-labelledby="sessions">
      <div className={layout['bar']}>
        <h2 id="sessions">{text.sessions}</h2>
        {(sessions.data?.sessions.length ?? 0) > 1 && (
          <Button onPress={() => void run(endOthers.mutateAsync({}), text.othersEnded)}>{text.endOthers}</Button>
        )}
      </div>
      <QueryResult query={sessions}>
        {({ sessions: rows }) =>
          rows.length === 0 ? (
            <p>{text.noSessions}</p>
          ) : (
            <SessionTable
              sessions={rows}
              onEnd={(id) => void run(end.mutateAsync({ params: { sessionId: id } }), text.ended)}
            />
          )
        }
      </QueryResult>
    </section>
  );
};

/** Who the user is, the browsers they are signed in with, and their keys. */
export const ProfilePage = () => {
  const me = useMe();
  const profile = useQuery(operationQuery(GetProfile, {}));
  const [isChanging, setChanging] = useState(false);
  return (
    <Page
      title={text.title}
      actions={
        me.data?.user.isAPI === false && (
          <Button onPress={() => setChanging(true)}>{accountMessages.changePassword}</Button>
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
              <Notice>{text.isKey}</Notice>
            ) : (
              <>
                <Sessions />
                <Keys />
              </>
            )}
          </>
        )}
      </QueryResult>
      {isChanging && <ChangePasswordDialog onClose={() => setChanging(false)} />}
    </Page>
  );
};
