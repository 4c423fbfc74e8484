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
import { peopleMessages as text } from '../../../messages/administration/people.ts';
import { absoluteUrlOf } from './absolute-url.ts';
import layout from '../../../components/layout/layout.module.css';

const CreateInvitationDialog = lazyRouteComponent(() => import('./user-dialogs.tsx'), 'CreateInvitationDialog');

const isPast = (at: string): boolean => Date.parse(at) < Date.now();

const InvitationStateBadge = ({ link: { enabled, expiresAt } }: { readonly link: InviteLink }) => {
  if (!enabled) return <Badge>{text.isOff}</Badge>;
  if (isPast(expiresAt)) return <Badge>{text.isExpired}</Badge>;
  return <Badge tone="good">{text.works}</Badge>;
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
        <h2 id="invitations">{text.invitations}</h2>
        <Button icon="add" onPress={() => setCreating(true)}>
          {text.invite}
        </Button>
      </div>
      <ResourceList
        label={text.invitations}
        parameter="invitation"
        query={{ ...links, data: links.data?.tokens }}
        rowKey={({ secret }) => secret}
        name={({ name }) => name}
        columns={[
          { id: 'name', title: text.inviteName, cell: ({ name }) => name },
          { id: 'state', title: text.state, cell: (link) => <InvitationStateBadge link={link} /> },
          { id: 'joined', title: text.joined, cell: ({ users }) => users.length, isNumber: true },
          { id: 'expires', title: text.expires, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
        ]}
        actions={(link) => [
          { id: 'show', label: text.showLink, icon: 'external', run: () => setShownLink(link) },
          { id: 'switch', label: link.enabled ? text.turnOff : text.turnOn, run: () => setLinkToSwitch(link) },
        ]}
        empty={{ title: text.noInvitations, help: text.invitationsHelp }}
      />
      <Suspense>{isCreating && <CreateInvitationDialog onClose={() => setCreating(false)} />}</Suspense>
      {shownLink !== undefined && (
        <Dialog title={text.inviteMade(shownLink.name)} onClose={() => setShownLink(undefined)}>
          <p>{text.inviteOpen}</p>
          <CopyableSecret label={text.link} value={absoluteUrlOf(shownLink.url)} />
        </Dialog>
      )}
      {linkToSwitch !== undefined && (
        <ConfirmOperationDialog
          title={linkToSwitch.enabled ? text.turnOffTitle(linkToSwitch.name) : text.turnOnTitle(linkToSwitch.name)}
          confirm={linkToSwitch.enabled ? text.turnOff : text.turnOn}
          operation={UpdateInviteLink}
          request={{ params: { token: linkToSwitch.secret }, body: { enabled: !linkToSwitch.enabled } }}
          notification={
            linkToSwitch.enabled ? text.wasTurnedOff(linkToSwitch.name) : text.wasTurnedOn(linkToSwitch.name)
          }
          onClose={close}
        >
          <p>{linkToSwitch.enabled ? text.turnOffHelp : text.turnOnHelp}</p>
        </ConfirmOperationDialog>
      )}
    </section>
  );
};
