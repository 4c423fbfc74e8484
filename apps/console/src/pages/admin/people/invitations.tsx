import { CreateInviteLink, type InviteLink, ListInviteLinks, UpdateInviteLink } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { CopyableSecret } from '../../../components/content/copyable-secret.tsx';
import { Time } from '../../../components/content/time.tsx';
import { absoluteUrlOf } from './absolute-url.ts';
import layout from '../../../components/layout/layout.module.css';

const CreateInvitationDialog = lazyRouteComponent(() => import('./user-dialogs.tsx'), 'CreateInvitationDialog');

const isPast = (at: string): boolean => Date.parse(at) < Date.now();

const InvitationStateBadge = ({ link: { enabled, expiresAt } }: { readonly link: InviteLink }) => {
  if (!enabled) return <Badge>Off</Badge>;
  if (isPast(expiresAt)) return <Badge>Expired</Badge>;
  return <Badge tone="good">Works</Badge>;
};

/** The invitation links, with which people create their own accounts. */
export const Invitations = () => {
  const links = useQuery(operationQuery(ListInviteLinks, {}));
  const mayCall = useMayCall();
  const [isCreating, setCreating] = useState(false);
  const [shownLink, setShownLink] = useState<InviteLink | undefined>();
  const [linkToSwitch, setLinkToSwitch] = useState<InviteLink | undefined>();
  const close = (): void => setLinkToSwitch(undefined);
  if (!mayCall(CreateInviteLink)) return null;
  return (
    <section className={layout['section']} aria-labelledby="invitations">
      <div className={layout['bar']}>
        <h2 id="invitations">Invitation links</h2>
        <Button icon="add" onPress={() => setCreating(true)}>
          Create an invitation link
        </Button>
      </div>
      <ResourceList
        label="Invitation links"
        parameter="invitation"
        query={{ ...links, data: links.data?.tokens }}
        rowKey={({ secret }) => secret}
        name={({ name }) => name}
        columns={[
          { id: 'name', title: 'Name', cell: ({ name }) => name },
          { id: 'state', title: 'State', cell: (link) => <InvitationStateBadge link={link} /> },
          { id: 'joined', title: 'Joined by it', cell: ({ users }) => users.length, isNumber: true },
          { id: 'expires', title: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
        ]}
        actions={(link) => [
          { id: 'show', label: 'Show the link', icon: 'external', run: () => setShownLink(link) },
          { id: 'switch', label: link.enabled ? 'Turn off' : 'Turn on', run: () => setLinkToSwitch(link) },
        ]}
        empty={{
          title: 'No invitation links',
          help: 'People who open such a link create their own accounts, with the role Viewer.',
        }}
      />
      <Suspense>{isCreating && <CreateInvitationDialog onClose={() => setCreating(false)} />}</Suspense>
      {shownLink !== undefined && (
        <Dialog title={`The invitation “${shownLink.name}”`} onClose={() => setShownLink(undefined)}>
          <p>{'Each person who has it can create an account. Turn it off when your team has joined.'}</p>
          <CopyableSecret label="Link" value={absoluteUrlOf(shownLink.url)} />
        </Dialog>
      )}
      {linkToSwitch !== undefined && (
        <ConfirmOperationDialog
          title={
            linkToSwitch.enabled
              ? `Turn off the invitation “${linkToSwitch.name}”?`
              : `Turn on the invitation “${linkToSwitch.name}”?`
          }
          confirm={linkToSwitch.enabled ? 'Turn off' : 'Turn on'}
          operation={UpdateInviteLink}
          request={{ params: { token: linkToSwitch.secret }, body: { enabled: !linkToSwitch.enabled } }}
          notification={
            linkToSwitch.enabled
              ? `The invitation ${linkToSwitch.name} is off.`
              : `The invitation ${linkToSwitch.name} works.`
          }
          onClose={close}
        >
          <p>
            {linkToSwitch.enabled
              ? 'The link creates no more accounts. Accounts that it has created stay.'
              : 'The link creates accounts again, until it expires.'}
          </p>
        </ConfirmOperationDialog>
      )}
    </section>
  );
};
