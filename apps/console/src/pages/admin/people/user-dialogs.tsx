import {
  CreateInviteLink,
  CreateResetLink,
  CreateUser,
  DeleteUser,
  EndUserSessions,
  GetUiConfig,
  GetUser,
  ListGroups,
  ListRoles,
  ListUserPats,
  type ListUsers,
  ListUserSessions,
  ListUserSlackAccounts,
  type ReplyOf,
  UnlinkUserSlackAccount,
  UpdateUser,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../api/call.ts';
import { operationQuery, useOperationMutation, useProjects } from '../../../api/queries-and-mutations.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { QueryResult } from '../../../components/content/query-result.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { CreateSecretDialog } from '../../../components/dialogs/create-secret-dialog.tsx';
import { BoundSelect, BoundSwitch, BoundTextField } from '../../../components/forms/bound-fields.tsx';
import { MultiComboBox } from '../../../components/forms/multi-combo-box.tsx';
import { Select } from '../../../components/forms/selects.tsx';
import { instantAfterDays, optionsOfPairs, textOrUndefined } from '../../../components/forms/form-values.ts';
import { RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { validationErrorOf } from '../../../components/forms/request-body-schema.ts';
import { UsageList } from '../../../components/resources/usage-list.tsx';
import { formatCount } from '../../../text/format-number.ts';
import { SessionTable } from '../../profile/session-table.tsx';
import { SlackAccountTable } from '../../profile/slack-account-table.tsx';
import { notify } from '../../../shell/toasts.tsx';
import { absoluteUrlOf } from '../public-url.ts';
import { displayNameOf, roleOptions } from './user-names.tsx';
import { isolated } from '../../../text/isolated.ts';

/** The tokens and the groups of a user, shown before the user is deactivated or deleted. */
function TokensAndGroupsOfUser({ id }: { readonly id: number }) {
  const tokens = useQuery(operationQuery(ListUserPats, { params: { id } }));
  const groups = useQuery(operationQuery(ListGroups, {}));
  return (
    <>
      <UsageList
        query={tokens}
        title={(n) => `${formatCount(n, 'token')} will stop working:`}
        emptyText="The user has no tokens."
        uses={({ pats }) => pats.map((pat) => ({ key: String(pat.id), node: pat.description }))}
      />
      <UsageList
        query={groups}
        title={(n) => `Member of ${formatCount(n, 'group')}:`}
        emptyText="The user is in no group."
        uses={(data) =>
          data.groups
            .filter(({ users }) => users.some(({ user }) => user.id === id))
            .map((group) => ({ key: String(group.id), node: group.name }))
        }
      />
    </>
  );
}

const texts = {
  resetHelp: 'It works once and within a day, and replaces earlier links. The present password works until then.',
  inviteDays: [
    ['1', 'a day'],
    ['7', 'a week'],
    ['30', '30 days'],
  ],
} as const;

export type ListedUser = ReplyOf<typeof ListUsers>['users'][number];
export type UserDialogKind = 'edit' | 'reset' | 'sessions' | 'slack' | 'activate' | 'deactivate' | 'delete';

/** Creates a user, and shows the link by which the user chooses a password. */
export function CreateUserDialog({
  roles,
  onClose,
}: {
  readonly roles: ReplyOf<typeof ListUsers>['rootRoles'];
  readonly onClose: () => void;
}) {
  const hasMail = useQuery(operationQuery(GetUiConfig, {})).data?.emailEnabled === true;
  const viewer = roles.find(({ name }) => name === 'Viewer') ?? roles[0];
  const validate = (name: string) => (value: unknown) => validationErrorOf(CreateUser.body, name, value);
  return (
    <CreateSecretDialog
      title="Create a user"
      submit="Create"
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
        title: `${isolated(displayNameOf(created))} is created`,
        label: 'Link',
        value: absoluteUrlOf(created.inviteLink),
        help: `${displayNameOf(created)} chooses a password by this link, once and within a week. It is shown only here.`,
        footnote: created.emailSent && <p>It was also sent by mail.</p>,
      })}
      onClose={onClose}
    >
      {(control) => (
        <>
          <BoundTextField
            control={control}
            name="name"
            label="Name"
            hint="As people read it, such as Ada Lovelace"
            validate={validate('name')}
            autoFocus
          />
          <BoundTextField control={control} name="email" label="Email" type="email" validate={validate('email')} />
          <BoundTextField
            control={control}
            name="username"
            label="Username"
            hint="A username or an email address is needed."
            validate={validate('username')}
          />
          <BoundSelect
            control={control}
            name="rootRole"
            label="Root role"
            hint="What the user may do everywhere; projects give further roles."
            options={roleOptions(roles)}
          />
          {hasMail && <BoundSwitch control={control} name="sendEmail" label="Send the link by mail" />}
        </>
      )}
    </CreateSecretDialog>
  );
}

function SessionsDialog({ user, onClose }: { readonly user: ListedUser; readonly onClose: () => void }) {
  const sessions = useQuery(operationQuery(ListUserSessions, { params: { id: user.id } }));
  const count = sessions.data?.sessions.length ?? 0;
  return (
    <ConfirmOperationDialog
      title={`Browsers in which ${isolated(displayNameOf(user))} is signed in`}
      confirm="Sign out of all browsers"
      isImpossible={count === 0}
      operation={EndUserSessions}
      request={{ params: { id: user.id } }}
      notification={`${isolated(displayNameOf(user))} is signed out of all browsers.`}
      onClose={onClose}
    >
      <QueryResult query={sessions}>
        {({ sessions: rows }) => (rows.length === 0 ? <p>In none at the moment.</p> : <SessionTable sessions={rows} />)}
      </QueryResult>
    </ConfirmOperationDialog>
  );
}

function SlackAccountsDialog({ user, onClose }: { readonly user: ListedUser; readonly onClose: () => void }) {
  const accounts = useQuery(operationQuery(ListUserSlackAccounts, { params: { id: user.id } }));
  const unlink = useOperationMutation(UnlinkUserSlackAccount, 'notified', () =>
    notify('The Slack account is unlinked.'),
  );
  return (
    <Dialog
      title={`Slack accounts that act as ${isolated(displayNameOf(user))}`}
      onClose={onClose}
      footer={<Button onPress={onClose}>Close</Button>}
    >
      <QueryResult query={accounts}>
        {({ slackAccounts: rows }) =>
          rows.length === 0 ? (
            <p>None at the moment.</p>
          ) : (
            <SlackAccountTable
              accounts={rows}
              onUnlink={(tokenId) => unlink.mutate({ params: { id: user.id, tokenId } })}
            />
          )
        }
      </QueryResult>
    </Dialog>
  );
}

interface UserDialogProps {
  readonly kind: UserDialogKind;
  readonly user: ListedUser;
  readonly roles: ReplyOf<typeof ListUsers>['rootRoles'];
  readonly onClose: () => void;
}

/** The dialog of one action on a user. */
export function UserDialog({ kind, user, roles, onClose }: UserDialogProps) {
  const name = displayNameOf(user);
  const params = { id: user.id };
  switch (kind) {
    case 'edit':
      return (
        <RequestBodyDialog
          title={`Edit “${isolated(name)}”`}
          submit="Save"
          operation={UpdateUser}
          request={{ params }}
          values={user}
          readStored={async () => ({ value: await call(GetUser, { params }) })}
          fields={[
            { name: 'name', label: 'Name' },
            { name: 'email', label: 'Email' },
            {
              name: 'rootRole',
              label: 'Root role',
              hint: 'What the user may do everywhere; projects give further roles.',
              options: roleOptions(roles),
            },
            { name: 'active', label: 'Active: signing in, sessions and tokens work' },
          ]}
          notification={() => `${isolated(name)} is saved.`}
          onClose={onClose}
        />
      );
    case 'reset':
      return (
        <CreateSecretDialog
          title={`A link for “${isolated(name)}” to choose a password`}
          submit="Create the link"
          operation={CreateResetLink}
          request={() => ({ body: { id: user.email ?? user.username ?? '' } })}
          secret={({ resetPasswordUrl }) => ({
            title: `The link for ${isolated(name)}`,
            label: 'Link',
            value: absoluteUrlOf(resetPasswordUrl),
            help: texts.resetHelp,
          })}
          onClose={onClose}
        >
          {() => <p>{texts.resetHelp}</p>}
        </CreateSecretDialog>
      );
    case 'sessions':
      return <SessionsDialog user={user} onClose={onClose} />;
    case 'slack':
      return <SlackAccountsDialog user={user} onClose={onClose} />;
    case 'activate':
    case 'deactivate': {
      const isActivation = kind === 'activate';
      return (
        <ConfirmOperationDialog
          title={isActivation ? `Activate “${isolated(name)}”?` : `Deactivate “${isolated(name)}”?`}
          confirm={isActivation ? 'Activate' : 'Deactivate'}
          isDangerous={!isActivation}
          operation={UpdateUser}
          request={{ params, body: { active: isActivation } }}
          notification={isActivation ? `${isolated(name)} is active.` : `${isolated(name)} is deactivated.`}
          onClose={onClose}
        >
          <p>
            {isActivation
              ? 'Signing in and the tokens work again.'
              : 'Sessions end and tokens stop working immediately. Roles and groups stay, for the day of the return.'}
          </p>
          {!isActivation && <TokensAndGroupsOfUser id={user.id} />}
        </ConfirmOperationDialog>
      );
    }
    case 'delete':
      return (
        <ConfirmOperationDialog
          title={`Delete “${isolated(name)}”?`}
          confirm="Delete"
          isDangerous
          operation={DeleteUser}
          request={{ params }}
          notification={`${isolated(name)} is deleted.`}
          onClose={onClose}
        >
          <p>Sessions end, tokens stop working, and roles are gone. What the user did stays in the event log.</p>
          <TokensAndGroupsOfUser id={user.id} />
        </ConfirmOperationDialog>
      );
  }
}

/** The id of the predefined role Admin, which no invitation gives. */
const adminRole = 1;
/** The predefined role for projects that invited people get unless another one is chosen. */
const memberRole = 5;

/** Creates an invitation link, and shows it. */
export function CreateInvitationDialog({
  roles,
  onClose,
}: {
  readonly roles: ReplyOf<typeof ListUsers>['rootRoles'];
  readonly onClose: () => void;
}) {
  const [groups, setGroups] = useState<readonly string[]>([]);
  const [projects, setProjects] = useState<readonly string[]>([]);
  const [rolesByProject, setRolesByProject] = useState<Readonly<Record<string, string>>>({});
  const roleIn = (project: string): string => rolesByProject[project] ?? String(memberRole);
  const knownGroups = useQuery(operationQuery(ListGroups, {})).data?.groups ?? [];
  const knownProjects = useProjects().data?.projects ?? [];
  const allRoles = useQuery(operationQuery(ListRoles, {})).data?.roles ?? [];
  const offered = roles.filter(({ id }) => id !== adminRole);
  const viewer = offered.find(({ name }) => name === 'Viewer') ?? offered[0];
  return (
    <CreateSecretDialog
      title="Create an invitation link"
      submit="Create"
      operation={CreateInviteLink}
      values={{ name: '', days: '7', rootRole: String(viewer?.id ?? '') }}
      request={({ name, days, rootRole }) => ({
        body: {
          name: String(name).trim(),
          expiresAt: instantAfterDays(days) ?? '',
          ...(rootRole !== '' && { rootRole: Number(rootRole) }),
          ...(groups.length > 0 && { groups: groups.map(Number) }),
          ...(projects.length > 0 && { projects: projects.map((id) => ({ id, role: Number(roleIn(id)) })) }),
        },
      })}
      secret={(link) => ({
        title: `The invitation “${isolated(link.name)}”`,
        label: 'Link',
        value: absoluteUrlOf(link.url),
        help: 'Each person who has it can create an account. Turn it off when your team has joined.',
      })}
      onClose={onClose}
    >
      {(control) => (
        <>
          <BoundTextField
            control={control}
            name="name"
            label="Name"
            hint="For whom it is, such as a team"
            validate={(value) => validationErrorOf(CreateInviteLink.body, 'name', value)}
            autoFocus
          />
          <BoundSelect
            control={control}
            name="rootRole"
            label="Root role"
            hint="What everybody who has the link may do everywhere. Nobody becomes an administrator by it."
            options={roleOptions(offered)}
          />
          <MultiComboBox
            label="Projects"
            options={knownProjects.map(({ id, name }) => ({ id, label: name }))}
            value={projects}
            onChange={setProjects}
            emptyText="They become members of no project."
          />
          {projects.map((project) => (
            <Select
              key={project}
              label={`Role in ${isolated(knownProjects.find(({ id }) => id === project)?.name ?? project)}`}
              options={roleOptions(allRoles.filter(({ type }) => type === 'project' || type === 'custom'))}
              value={roleIn(project)}
              onChange={(role) => setRolesByProject({ ...rolesByProject, [project]: role })}
            />
          ))}
          <MultiComboBox
            label="Groups"
            options={knownGroups
              .filter((group) => group.rootRole !== adminRole)
              .map(({ id, name }) => ({ id: String(id), label: name }))}
            value={groups}
            onChange={setGroups}
            emptyText="They join no group."
          />
          <BoundSelect control={control} name="days" label="Works for" options={optionsOfPairs(texts.inviteDays)} />
        </>
      )}
    </CreateSecretDialog>
  );
}
