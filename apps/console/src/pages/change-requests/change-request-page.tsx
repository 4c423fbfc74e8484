import { AddComment, type ChangeRequest, GetChangeRequest, isClosedState, SetTitle } from '@bunting/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useEventFeed } from '../../api/event-feed.ts';
import { operationQuery, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { Time } from '../../components/content/time.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import layout from '../../components/layout/layout.module.css';
import { Page } from '../../components/layout/page.tsx';
import { formatCount } from '../../text/format-number.ts';
import { ChangeRequestActions } from './change-request-actions.tsx';
import { ChangeRequestChanges, ChangeRequestImpact } from './change-request-changes.tsx';
import styles from './change-requests.module.css';
import { StateBadge } from './state-badge.tsx';

interface TimelineEntry {
  readonly key: string;
  readonly at: string;
  readonly text: string;
  readonly comment?: string;
}

/** The states, reviews and comments of a change request in order of time, and a field for a new comment. */
function ChangeRequestTimeline({ request }: RequestProps) {
  const { approvals = [], rejections = [], comments = [], stateTimestamps = {}, createdAt, createdBy } = request;
  const entries: readonly TimelineEntry[] = [
    { at: createdAt, text: `Created by ${createdBy.username ?? ''}`, key: 'created' },
    ...Object.entries(stateTimestamps)
      .filter(([state]) => state !== 'Draft')
      .map(([state, at]) => ({ at: String(at), text: state, key: state })),
    ...approvals.map((entry, index) => ({
      at: entry.createdAt,
      text: `Approved by ${entry.createdBy.username ?? ''}`,
      key: `approval-${index}`,
    })),
    ...rejections.map((entry, index) => ({
      at: entry.createdAt,
      text: `Rejected by ${entry.createdBy.username ?? ''}`,
      key: `rejection-${index}`,
    })),
    ...comments.map((entry, index) => ({
      at: entry.createdAt,
      text: `Comment by ${entry.createdBy.username ?? ''}`,
      comment: entry.text,
      key: `comment-${entry.id ?? index}`,
    })),
  ];
  const sorted = entries.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const [text, setText] = useState('');
  const addComment = useOperationMutation(AddComment, 'handled');
  return (
    <section className={layout['card']} aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <ol className={styles['timeline']}>
        {sorted.map((entry) => (
          <li key={entry.key}>
            <div className={layout['bar']}>
              <span>{entry.text}</span>
              <span className={layout['small']}>
                <Time at={entry.at} />
              </span>
            </div>
            {entry.comment !== undefined && (
              <p className={styles['comment']} dir="auto">
                {entry.comment}
              </p>
            )}
          </li>
        ))}
      </ol>
      <form
        className={layout['denseStack']}
        onSubmit={(event) => {
          event.preventDefault();
          addComment.mutate(
            { params: { projectId: request.project, id: request.id }, body: { text }, ifMatch: undefined },
            { onSuccess: () => setText('') },
          );
        }}
      >
        <TextField label="Comment" rows={2} value={text} onChange={setText} />
        {addComment.error !== null && <ErrorNotice error={addComment.error} />}
        <div>
          <Button type="submit" size="small" isPending={addComment.isPending} isDisabled={text.trim() === ''}>
            Comment
          </Button>
        </div>
      </form>
    </section>
  );
}

interface RequestProps {
  readonly request: ChangeRequest;
}

function TitleDialog({ request, onClose }: RequestProps & { readonly onClose: () => void }) {
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
}

function RequestView({ request }: RequestProps) {
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
}

/** One change request: its changes as sentences, the users that they affect, its conflicts, and its comments. */
export function ChangeRequestPage() {
  const { project, id } = useParams({ strict: false }) as { project: string; id: string };
  const client = useQueryClient();
  const query = useQuery(operationQuery(GetChangeRequest, { params: { projectId: project, id: Number(id) } }));
  useEventFeed(({ project: eventProject }) => {
    if (eventProject === project) void client.invalidateQueries();
  });
  return <QueryResult query={query}>{(request) => <RequestView request={request} />}</QueryResult>;
}
