import {
  type ChangeRequest,
  type ChangeRequestReview,
  GetChangeRequest,
  GetChangeRequestReview,
  isClosedState,
  SetTitle,
} from '@bunting/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { useEventBatches } from '../../api/event-feed.ts';
import { operationQuery, useEnvironments, useOperationMutation, useProjects } from '../../api/queries-and-mutations.ts';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { Loading, QueryResult } from '../../components/content/query-result.tsx';
import { Time } from '../../components/content/time.tsx';
import { FormDialog } from '../../components/dialogs/dialog.tsx';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import layout from '../../components/layout/layout.module.css';
import { Page } from '../../components/layout/page.tsx';
import { formatCount } from '../../text/format-number.ts';
import { displayNameOf } from '../admin/people/user-names.tsx';
import { ChangeRequestActions } from './change-request-actions.tsx';
import { ChangeRequestChanges, ChangeRequestImpact, useChangeRequestPreview } from './change-request-changes.tsx';
import { ChangeRequestTimeline, useCommentDrafts } from './change-request-comments.tsx';
import { ChangeRequestReviewers, RequestReviewersDialog } from './change-request-reviewers.tsx';
import styles from './change-requests.module.css';
import { StateBadge } from './state-badge.tsx';

interface RequestProps {
  readonly request: ChangeRequest;
}

interface RequestViewProps extends RequestProps {
  readonly review: ChangeRequestReview;
}

const crumbs = [
  <Link key="all" to="/change-requests" activeOptions={{ exact: true }}>
    Change requests
  </Link>,
];

function TitleDialog({ request, onClose }: RequestProps & { readonly onClose: () => void }) {
  const [title, setTitle] = useState(request.title ?? '');
  const save = useOperationMutation(SetTitle, 'handled');
  return (
    <FormDialog
      title="Edit the title"
      onClose={onClose}
      onSubmit={() => {
        save.mutate(
          { params: { projectId: request.project, id: request.id }, body: { title }, ifMatch: undefined },
          { onSuccess: onClose },
        );
      }}
      submit="Save"
      isPending={save.isPending}
    >
      <TextField label="Title" value={title} onChange={setTitle} isRequired autoFocus />
      <ErrorNotice error={save.error} />
    </FormDialog>
  );
}

/** Who wants to change what, in one line. */
function Lead({ request, review }: RequestViewProps) {
  const { project, environment, state, features, segments, createdAt, createdBy } = request;
  const projects = useProjects().data?.projects ?? [];
  const author = displayNameOf({ ...review.author, username: review.author.username ?? createdBy.username });
  const wants = state === 'Applied' ? 'changed' : isClosedState(state) ? 'wanted to change' : 'wants to change';
  const counts = [
    ...(features.length > 0 ? [formatCount(features.length, 'flag')] : []),
    ...(segments.length > 0 ? [formatCount(segments.length, 'segment')] : []),
  ];
  return (
    <p className={styles['lead']}>
      <strong>
        <bdi>{author}</bdi>
      </strong>{' '}
      {wants}{' '}
      <strong>
        <EnvironmentName name={environment} />
      </strong>{' '}
      of{' '}
      <Link to="/projects/$project" params={{ project }}>
        <bdi>{projects.find((known) => known.id === project)?.name ?? project}</bdi>
      </Link>
      {[
        ...counts,
        <>
          opened <Time at={createdAt} />
        </>,
      ].map((part, index) => (
        <Fragment key={index}>
          {/* The dot stays with what is before it. */}
          {'\u00a0· '}
          <span className={layout['muted']}>{part}</span>
        </Fragment>
      ))}
    </p>
  );
}

const conjunction = new Intl.ListFormat('en', { type: 'conjunction' });

function RequestView({ request, review }: RequestViewProps) {
  const { title, id, environment, state, schedule } = request;
  const [dialog, setDialog] = useState<'title' | 'reviewers' | undefined>();
  const close = (): void => setDialog(undefined);
  const preview = useChangeRequestPreview(request);
  const drafts = useCommentDrafts(request);
  const isOpen = !isClosedState(state);
  const alsoAffected = (request.affectedEnvironments ?? []).filter((name) => name !== environment);
  return (
    <Page
      title={title ?? `Change request #${id}`}
      crumbs={crumbs}
      titleExtras={<StateBadge state={state} schedule={schedule} />}
      actions={
        <ChangeRequestActions
          request={request}
          review={review}
          isApplicable={preview.data?.applicable}
          onAskReviewers={() => setDialog('reviewers')}
          onRename={() => setDialog('title')}
        />
      }
    >
      <Lead request={request} review={review} />
      {schedule !== undefined && state === 'Scheduled' && (
        <Notice tone={schedule.status === 'pending' ? 'neutral' : 'danger'}>
          {schedule.status === 'pending' ? 'It will be applied on' : schedule.reason}{' '}
          <Time at={schedule.scheduledAt} isAbsolute />
        </Notice>
      )}
      {alsoAffected.length > 0 && (
        <Notice tone="neutral">
          It also affects {conjunction.format(alsoAffected)}. Approving and applying it needs the permission there, too.
        </Notice>
      )}
      <div className={styles['layout']}>
        <ChangeRequestChanges request={request} review={review} drafts={drafts} />
        <div className={layout['denseStack']}>
          <ChangeRequestReviewers request={request} review={review} />
          {isOpen && <ChangeRequestImpact request={request} />}
          <ChangeRequestTimeline request={request} drafts={drafts} />
        </div>
      </div>
      {dialog === 'title' && <TitleDialog request={request} onClose={close} />}
      {dialog === 'reviewers' && <RequestReviewersDialog request={request} review={review} onClose={close} />}
    </Page>
  );
}

/** One change request: its changes as sentences, the users that they affect, its conflicts, and its comments. */
export function ChangeRequestPage() {
  const { project, id } = useParams({ strict: false }) as { project: string; id: string };
  const client = useQueryClient();
  const params = { projectId: project, id: Number(id) };
  const query = useQuery(operationQuery(GetChangeRequest, { params }));
  const review = useQuery(operationQuery(GetChangeRequestReview, { params }));
  // What they say stands above other things, which would move when it came later; without it the page has ids.
  const areNamesLoading = [useProjects(), useEnvironments()].some(({ isLoading }) => isLoading);
  useEventBatches(
    ({ project: eventProject }) => eventProject === project,
    () => client.invalidateQueries(),
  );
  return (
    <QueryResult
      query={query}
      page="change request"
      crumbs={crumbs}
      notFound="It may have been deleted, or is a draft: drafts are seen by their authors alone."
    >
      {(request) => (
        <QueryResult query={review} page="change request" crumbs={crumbs}>
          {(loaded) => (areNamesLoading ? <Loading /> : <RequestView request={request} review={loaded} />)}
        </QueryResult>
      )}
    </QueryResult>
  );
}
