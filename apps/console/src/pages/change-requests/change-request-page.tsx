import { type ChangeRequest, GetChangeRequest, isClosedState, SetTitle } from '@bunting/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useEventFeed } from '../../api/event-feed.ts';
import { operationQuery, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { Page } from '../../components/layout/page.tsx';
import { Time } from '../../components/content/time.tsx';
import { StateBadge } from './state-badge.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './change-requests.module.css';
import { ChangeRequestChanges } from './change-request-changes.tsx';
import { ChangeRequestImpact } from './change-request-impact.tsx';
import { ChangeRequestActions } from './change-request-actions.tsx';
import { ChangeRequestTimeline } from './change-request-timeline.tsx';
import { formatCount } from '../../text/format-number.ts';

interface RequestProps {
  readonly request: ChangeRequest;
}

const TitleDialog = ({ request, onClose }: RequestProps & { readonly onClose: () => void }) => {
  const [title, setTitle] = useState(request.title ?? '');
  const save = useOperationMutation(SetTitle, 'handled');
  return (
    <Dialog
      title="Edit the title"
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(
          { params: { projectId: request.project, id: request.id }, body: { title }, ifMatch: undefined },
          { onSuccess: onClose },
        );
      }}
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={save.isPending}>
            Save
          </Button>
        </>
      }
    >
      <TextField label="Title" value={title} onChange={setTitle} isRequired autoFocus />
      {save.error !== null && <ErrorNotice error={save.error} />}
    </Dialog>
  );
};

const RequestView = ({ request }: RequestProps) => {
  const { id, title, project, environment, state, schedule, approvals = [], minApprovals } = request;
  const [isEditing, setEditing] = useState(false);
  const isOpen = !isClosedState(state);
  const alsoAffected = (request.affectedEnvironments ?? []).filter((name) => name !== environment);
  return (
    <Page
      title={title ?? `Change request ${id}`}
      crumbs={[
        <Link key="all" to="/change-requests">
          Change requests
        </Link>,
        <Link key="project" to="/projects/$project/flags" params={{ project }}>
          {project}
        </Link>,
      ]}
      titleExtras={
        <>
          <IconButton icon="edit" label="Edit the title" onPress={() => setEditing(true)} />
          <StateBadge state={state} schedule={schedule} />
          <Badge>{environment}</Badge>
          {isOpen && (
            <Badge>
              {approvals.length} of {formatCount(minApprovals, 'approval')}
            </Badge>
          )}
        </>
      }
      actions={<ChangeRequestActions request={request} />}
    >
      {schedule !== undefined && state === 'Scheduled' && (
        <Notice tone={schedule.status === 'pending' ? 'neutral' : 'danger'}>
          {schedule.status === 'pending' ? 'It is applied at' : schedule.reason}{' '}
          <Time at={schedule.scheduledAt} isAbsolute />
        </Notice>
      )}
      {alsoAffected.length > 0 && (
        <Notice tone="neutral">
          It also affects {alsoAffected.join(', ')}. Approving and applying it needs the permission there, too.
        </Notice>
      )}
      <div className={styles['layout']}>
        <ChangeRequestChanges request={request} />
        <div className={layout['denseStack']}>
          {isOpen && <ChangeRequestImpact request={request} />}
          <ChangeRequestTimeline request={request} />
        </div>
      </div>
      {isEditing && <TitleDialog request={request} onClose={() => setEditing(false)} />}
    </Page>
  );
};

/** One change request: its changes as sentences, the users that they affect, its conflicts, and its comments. */
export const ChangeRequestPage = () => {
  const { project, id } = useParams({ strict: false }) as { project: string; id: string };
  const client = useQueryClient();
  const query = useQuery(operationQuery(GetChangeRequest, { params: { projectId: project, id: Number(id) } }));
  useEventFeed(({ project: eventProject }) => {
    if (eventProject === project) void client.invalidateQueries();
  });
  return <QueryResult query={query}>{(request) => <RequestView request={request} />}</QueryResult>;
};
