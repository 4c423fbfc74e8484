import {
  CreateInviteLink,
  type InviteLink,
  ListInviteLinks,
  type ListUsers,
  type ReplyOf,
  UpdateInviteLink,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { serverNow } from '../../../api/server-clock.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { lazyPart } from '../../../components/content/lazy-part.tsx';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { useProjectNames } from '../../../components/content/project-name.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { useMayCall } from '../../../api/permissions.ts';
import { Catalogue } from '../../../components/resources/catalogue.tsx';
import { CopyableSecret } from '../../../components/content/copyable-secret.tsx';
import { Time } from '../../../components/content/time.tsx';
import { absoluteUrlOf } from '../public-url.ts';
import layout from '../../../components/layout/layout.module.css';
import { isolated } from '../../../text/isolated.ts';

const CreateInvitationDialog = lazyPart(async () => (await import('./user-dialogs.tsx')).CreateInvitationDialog);

function isPast(at: string): boolean {
  return Date.parse(at) < serverNow();
}

function InvitationStateBadge({ link: { enabled, expiresAt } }: { readonly link: InviteLink }) {
  if (!enabled) return <Badge>Off</Badge>;
  if (isPast(expiresAt)) return <Badge>Expired</Badge>;
  return <Badge tone="good">Works</Badge>;
}

/** What an account gets by a link: its root role, and its groups and roles in projects. */
function Given({ link: { role, groups, projects } }: { readonly link: InviteLink }) {
  const nameOf = useProjectNames();
  return [
    role.name,
    ...projects.map((given) => `${given.role.name} of ${isolated(nameOf(given.id))}`),
    ...groups.map(({ name }) => `group ${isolated(name)}`),
  ].join(', ');
}

/** The invitation links, with which people create their own accounts. */
export function Invitations({ roles }: { readonly roles: ReplyOf<typeof ListUsers>['rootRoles'] }) {
  const links = useQuery(operationQuery(ListInviteLinks, {}));
  const mayCall = useMayCall();
  if (!mayCall(CreateInviteLink)) return null;
  return (
    <Catalogue
      noun="invitation link"
      label="Invitation links"
      frame={(createButton, content) => (
        <section className={layout['section']} aria-labelledby="invitations">
          <div className={layout['bar']}>
            <h2 id="invitations">Invitation links</h2>
            {createButton}
          </div>
          {content}
        </section>
      )}
      parameter="invitation"
      query={{ ...links, data: links.data?.tokens }}
      rowKey={({ secret }) => secret}
      name={({ name }) => name}
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Gives', cell: (link) => <Given link={link} /> },
        { title: 'State', cell: (link) => <InvitationStateBadge link={link} /> },
        { title: 'Joined by it', cell: ({ users }) => users.length, isNumber: true },
        { title: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
      ]}
      create={{
        operation: CreateInviteLink,
        isSecondary: true,
        dialog: (onClose) => <CreateInvitationDialog roles={roles} onClose={onClose} />,
      }}
      actions={[
        {
          id: 'show',
          label: 'Show the link',
          icon: 'external',
          operation: CreateInviteLink,
          dialog: (link, onClose) => (
            <Dialog title={`The invitation “${isolated(link.name)}”`} onClose={onClose}>
              <p>
                Until <Time at={link.expiresAt} /> each person who has it can create an account that gets:{' '}
                <Given link={link} />. Turn it off when your team has joined.
              </p>
              <CopyableSecret label="Link" value={absoluteUrlOf(link.url)} />
            </Dialog>
          ),
        },
        {
          id: 'switch',
          label: ({ enabled }) => (enabled ? 'Turn off' : 'Turn on'),
          operation: CreateInviteLink,
          dialog: ({ name, secret, enabled }, onClose) => (
            <ConfirmOperationDialog
              title={`Turn ${enabled ? 'off' : 'on'} the invitation “${isolated(name)}”?`}
              confirm={enabled ? 'Turn off' : 'Turn on'}
              operation={UpdateInviteLink}
              request={{ params: { token: secret }, body: { enabled: !enabled } }}
              notification={
                enabled ? `The invitation ${isolated(name)} is off.` : `The invitation ${isolated(name)} works.`
              }
              onClose={onClose}
            >
              <p>
                {enabled
                  ? 'The link creates no more accounts. Accounts that it has created stay.'
                  : 'The link creates accounts again, until it expires.'}
              </p>
            </ConfirmOperationDialog>
          ),
        },
      ]}
      empty={{
        title: 'No invitation links',
        help: 'People who open such a link create their own accounts, with the root role that the link gives.',
      }}
    />
  );
}
