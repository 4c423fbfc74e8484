import {
  CreateInviteLink,
  CreateResetLink,
  CreateUser,
  DeleteUser,
  EndUserSessions,
  GetUiConfig,
  GetUser,
  type ListUsers,
  ListUserSessions,
  type ReplyOf,
  UpdateUser,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../api/call.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { validationErrorOf } from '../../../components/forms/request-body-schema.ts';
import { QueryResult } from '../../../components/content/query-result.tsx';
import { BoundSelect, BoundSwitch, BoundTextField } from '../../../components/forms/bound-fields.tsx';
import { peopleMessages as text } from '../../../messages/administration/people.ts';
import { sharedMessages } from '../../../messages/shared.ts';
import { SessionTable } from '../../profile/session-table.tsx';
import { absoluteUrlOf } from './absolute-url.ts';
import { displayNameOf } from './user-names.tsx';
import { roleOptions } from './role-options.ts';
import { TokensAndGroupsOfUser } from './tokens-and-groups-of-user.tsx';
import { CreateSecretDialog } from '../../../components/dialogs/create-secret-dialog.tsx';
import { optionsOfPairs, instantAfterDays, textOrUndefined } from '../../../components/forms/form-values.ts';

export type ListedUser = ReplyOf<typeof ListUsers>['users'][number];
export type UserDialogKind = 'edit' | 'reset' | 'sessions' | 'activate' | 'deactivate' | 'delete';

/** Creates a user, and shows the link by which the user chooses a password. */
export const CreateUserDialog = ({
  roles,
  onClose,
}: {
  readonly roles: ReplyOf<typeof ListUsers>['rootRoles'];
  readonly onClose: () => void;
}) => {
  const hasMail = useQuery(operationQuery(GetUiConfig, {})).data?.emailEnabled === true;
  const viewer = roles.find(({ name }) => name === 'Viewer') ?? roles[0];
  const validate = (name: string) => (value: unknown) => validationErrorOf(CreateUser.body, name, value);
  return (
    <CreateSecretDialog
      title={text.createUser}
      submit={sharedMessages.common.create}
      operation={CreateUser}
      values={{ name: '', email: '', username: '', rootRole: String(viewer?.id ?? ''), sendEmail: true }}
      request={({ name, email, username, rootRole, sendEmail }) => ({
        body: {
          rootRole: Number(rootRole),
          sendEmail: sendEmail === true && hasMail,
          ...(textOrUndefined(name) !== undefined && { name: textOrUndefined(name) as string }),
          ...(textOrUndefined(email) !== undefined && { email: textOrUndefined(email) as string }),
          ...(textOrUndefined(username) !== undefined && { username: textOrUndefined(username) as string }),
        },
      })}
      secret={(created) => ({
        title: text.userCreated(displayNameOf(created)),
        label: text.link,
        value: absoluteUrlOf(created.inviteLink),
        help: text.inviteHelp(displayNameOf(created)),
        footnote: created.emailSent && <p>{text.inviteSent}</p>,
      })}
      onClose={onClose}
    >
      {(control) => (
        <>
          <BoundTextField
            control={control}
            name="name"
            label={text.name}
            hint={text.nameHint}
            validate={validate('name')}
            autoFocus
          />
          <BoundTextField control={control} name="email" label={text.email} type="email" validate={validate('email')} />
          <BoundTextField
            control={control}
            name="username"
            label={text.username}
            hint={text.usernameHint}
            validate={validate('username')}
          />
          <BoundSelect
            control={control}
            name="rootRole"
            label={text.rootRole}
            hint={text.rootRoleHint}
            options={roleOptions(roles)}
          />
          {hasMail && <BoundSwitch control={control} name="sendEmail" label={text.sendMail} />}
        </>
      )}
    </CreateSecretDialog>
  );
};

const SessionsDialog = ({ user, onClose }: { readonly user: ListedUser; readonly onClose: () => void }) => {
  const sessions = useQuery(operationQuery(ListUserSessions, { params: { id: user.id } }));
  const count = sessions.data?.sessions.length ?? 0;
  return (
    <ConfirmOperationDialog
      title={text.sessionsOf(displayNameOf(user))}
      confirm={text.endSessions}
      isImpossible={count === 0}
      operation={EndUserSessions}
      request={{ params: { id: user.id } }}
      notification={text.sessionsEnded(displayNameOf(user))}
      onClose={onClose}
    >
      <QueryResult query={sessions}>
        {({ sessions: rows }) => (rows.length === 0 ? <p>{text.noSessions}</p> : <SessionTable sessions={rows} />)}
      </QueryResult>
    </ConfirmOperationDialog>
  );
};

interface UserDialogProps {
  readonly kind: UserDialogKind;
  readonly user: ListedUser;
  readonly roles: ReplyOf<typeof ListUsers>['rootRoles'];
  readonly onClose: () => void;
}

/** The dialog of one action on a user. */
export const UserDialog = ({ kind, user, roles, onClose }: UserDialogProps) => {
  const name = displayNameOf(user);
  const params = { id: user.id };
  switch (kind) {
    case 'edit':
      return (
        <RequestBodyDialog
          title={text.editUser(name)}
          submit={sharedMessages.common.save}
          operation={UpdateUser}
          request={{ params }}
          values={user}
          readStored={async () => ({ value: await call(GetUser, { params }) })}
          fields={[
            { name: 'name', label: text.name },
            { name: 'email', label: text.email },
            { name: 'rootRole', label: text.rootRole, hint: text.rootRoleHint, options: roleOptions(roles) },
            { name: 'active', label: text.isActive },
          ]}
          notification={() => text.saved(name)}
          onClose={onClose}
        />
      );
    case 'reset':
      return (
        <CreateSecretDialog
          title={text.resetTitle(name)}
          submit={text.resetCreate}
          operation={CreateResetLink}
          request={() => ({ body: { id: user.email ?? user.username ?? '' } })}
          secret={({ resetPasswordUrl }) => ({
            title: text.resetMade(name),
            label: text.link,
            value: absoluteUrlOf(resetPasswordUrl),
            help: text.resetHelp,
          })}
          onClose={onClose}
        >
          {() => <p>{text.resetHelp}</p>}
        </CreateSecretDialog>
      );
    case 'sessions':
      return <SessionsDialog user={user} onClose={onClose} />;
    case 'activate':
    case 'deactivate': {
      const isActivation = kind === 'activate';
      return (
        <ConfirmOperationDialog
          title={isActivation ? text.activateTitle(name) : text.deactivateTitle(name)}
          confirm={isActivation ? text.activate : text.deactivate}
          isDangerous={!isActivation}
          operation={UpdateUser}
          request={{ params, body: { active: isActivation } }}
          notification={isActivation ? text.wasActivated(name) : text.wasDeactivated(name)}
          onClose={onClose}
        >
          <p>{isActivation ? text.activateHelp : text.deactivateHelp}</p>
          {!isActivation && <TokensAndGroupsOfUser id={user.id} />}
        </ConfirmOperationDialog>
      );
    }
    case 'delete':
      return (
        <ConfirmOperationDialog
          title={text.deleteUserTitle(name)}
          confirm={text.deleteUser}
          isDangerous
          operation={DeleteUser}
          request={{ params }}
          notification={text.deleted(name)}
          onClose={onClose}
        >
          <p>{text.deleteUserHelp}</p>
          <TokensAndGroupsOfUser id={user.id} />
        </ConfirmOperationDialog>
      );
  }
};

/** Creates an invitation link, and shows it. */
export const CreateInvitationDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <CreateSecretDialog
    title={text.invite}
    submit={sharedMessages.common.create}
    operation={CreateInviteLink}
    values={{ name: '', days: '7' }}
    request={({ name, days }) => ({ body: { name: String(name).trim(), expiresAt: instantAfterDays(days) ?? '' } })}
    secret={(link) => ({
      title: text.inviteMade(link.name),
      label: text.link,
      value: absoluteUrlOf(link.url),
      help: text.inviteOpen,
    })}
    onClose={onClose}
  >
    {(control) => (
      <>
        <BoundTextField
          control={control}
          name="name"
          label={text.inviteName}
          hint={text.inviteNameHint}
          validate={(value) => validationErrorOf(CreateInviteLink.body, 'name', value)}
          autoFocus
        />
        <BoundSelect control={control} name="days" label={text.inviteLasts} options={optionsOfPairs(text.inviteDays)} />
      </>
    )}
  </CreateSecretDialog>
);
