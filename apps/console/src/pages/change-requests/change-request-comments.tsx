import {
  AddComment,
  type Author,
  type ChangeRequest,
  type ChangeRequestChange,
  type ChangeRequestState,
  actionText,
  changeSentence,
} from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { useOperationMutation, useSegmentNames } from '../../api/queries-and-mutations.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { PersonName } from '../../components/content/person-name.tsx';
import { Time } from '../../components/content/time.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import layout from '../../components/layout/layout.module.css';
import { formatCount } from '../../text/format-number.ts';
import styles from './change-requests.module.css';

type Comment = NonNullable<ChangeRequest['comments']>[number];

/** The changes of a request, each with the flag or the segment that it changes. */
function changesOf({ features, segments }: ChangeRequest) {
  return [...features, ...segments].flatMap(({ name, changes }) => changes.map((change) => ({ name, change })));
}

/** The id of the element of a change, to which comments lead. */
export function anchorOf({ id }: Pick<ChangeRequestChange, 'id'>): string {
  return `change-${id}`;
}

function authorOf(verb: string, { id, username }: Author): React.ReactNode {
  return (
    <>
      {verb} by <PersonName id={id} login={username ?? 'a deleted user'} />
    </>
  );
}

/** What is written and not sent yet: at a change, or on the whole request. */
export interface CommentDrafts {
  textAt(changeId: number | undefined): string;
  setTextAt(changeId: number | undefined, text: string): void;
  /** Removes a text that was sent, unless it was written on meanwhile. */
  removeSent(changeId: number | undefined, text: string): void;
  /** whether a part of the text on the request was written at a change that was discarded */
  readonly hasLostChange: boolean;
}

const onRequest = 'request';

/**
 * The page keeps what is written in its parts, since a change can be discarded while somebody writes about it: that text is then offered as a
 * comment on the request.
 */
export function useCommentDrafts(request: ChangeRequest): CommentDrafts {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const ids = new Set(changesOf(request).map(({ change }) => String(change.id)));
  const onOthers = (current: typeof texts): [string, string][] =>
    Object.entries(current).filter(([key, text]) => !ids.has(key) && text.trim() !== '');
  const textIn = (current: typeof texts, changeId: number | undefined): string =>
    changeId === undefined
      ? onOthers(current)
          .map(([, text]) => text)
          .join('\n\n')
      : (current[String(changeId)] ?? '');
  const withText = (current: typeof texts, changeId: number | undefined, text: string): typeof texts =>
    changeId === undefined
      ? { ...Object.fromEntries(Object.entries(current).filter(([key]) => ids.has(key))), [onRequest]: text }
      : { ...current, [String(changeId)]: text };
  return {
    textAt: (changeId) => textIn(texts, changeId),
    setTextAt: (changeId, text) => setTexts((current) => withText(current, changeId, text)),
    removeSent: (changeId, text) =>
      setTexts((current) => (textIn(current, changeId) === text ? withText(current, changeId, '') : current)),
    hasLostChange: onOthers(texts).some(([key]) => key !== onRequest),
  };
}

interface CommentFormProps {
  readonly request: ChangeRequest;
  readonly label: string;
  readonly hint?: string | undefined;
  /** the change that it is about; without it, it is about the whole request */
  readonly changeId?: number;
  readonly drafts: CommentDrafts;
}

function CommentForm({ request, changeId, label, hint, drafts }: CommentFormProps) {
  const text = drafts.textAt(changeId);
  const addComment = useOperationMutation(AddComment, 'handled');
  return (
    <form
      className={layout['denseStack']}
      onSubmit={(event) => {
        event.preventDefault();
        addComment.mutate(
          {
            params: { projectId: request.project, id: request.id },
            body: changeId === undefined ? { text } : { text, changeId },
            ifMatch: undefined,
          },
          { onSuccess: () => drafts.removeSent(changeId, text) },
        );
      }}
    >
      <TextField
        label={label}
        hint={hint}
        rows={2}
        value={text}
        onChange={(entered) => drafts.setTextAt(changeId, entered)}
      />
      <ErrorNotice error={addComment.error} />
      <div>
        <Button type="submit" size="small" isPending={addComment.isPending} isDisabled={text.trim() === ''}>
          Comment
        </Button>
      </div>
    </form>
  );
}

interface ChangeCommentsProps {
  readonly request: ChangeRequest;
  readonly change: ChangeRequestChange;
  /** what the change does */
  readonly sentence: string;
  readonly drafts: CommentDrafts;
}

/** What was said about one change, with its number, and a field to say more. It is open where something was said. */
export function ChangeComments({ request, change, sentence, drafts }: ChangeCommentsProps) {
  const comments = (request.comments ?? []).filter((comment) => comment.change?.id === change.id);
  return (
    <details open={comments.length > 0}>
      <summary className={layout['small']}>
        <span>{comments.length === 0 ? 'Comment on it' : formatCount(comments.length, 'comment')}</span>
      </summary>
      <div className={layout['denseStack']}>
        {comments.length > 0 && (
          <ol className={styles['timeline']} aria-label={`Comments on “${sentence}”`}>
            {comments.map(({ id, text, createdBy, createdAt }) => (
              <li key={id}>
                <div className={styles['entry']}>
                  <PersonName id={createdBy.id} login={createdBy.username ?? 'a deleted user'} />
                  <span className={layout['small']}>
                    <Time at={createdAt} />
                  </span>
                </div>
                <p className={styles['comment']} dir="auto">
                  {text}
                </p>
              </li>
            ))}
          </ol>
        )}
        <CommentForm request={request} changeId={change.id} label={`Comment on “${sentence}”`} drafts={drafts} />
      </div>
    </details>
  );
}

/** Which change a comment is about; one that was discarded since is named by what it did. */
function CommentedChange({ request, change }: { readonly request: ChangeRequest } & Pick<Comment, 'change'>) {
  const segmentNames = useSegmentNames();
  if (change === undefined) return null;
  const found = changesOf(request).find((one) => one.change.id === change.id);
  if (found === undefined)
    return (
      <>
        {' '}
        on “{actionText(change.action)}” of <bdi>{change.feature ?? change.segment}</bdi>, which was discarded
      </>
    );
  const { sentence } = changeSentence(found.change, { environment: request.environment, strategies: {}, segmentNames });
  return (
    <>
      {' '}
      on{' '}
      <Link to="." hash={anchorOf(change)}>
        “{sentence}”
      </Link>{' '}
      of <bdi>{found.name}</bdi>
    </>
  );
}

function People({ ids }: { readonly ids: readonly number[] }) {
  return ids.map((id, index) => (
    <Fragment key={id}>
      {index > 0 && (index === ids.length - 1 ? ' and ' : ', ')}
      <PersonName id={id} login={`user ${id}`} />
    </Fragment>
  ));
}

/** Whose review the author asked for, and whose no longer. */
function ReviewRequest({
  request: { requested, withdrawn, createdBy },
}: {
  readonly request: NonNullable<ChangeRequest['reviewRequests']>[number];
}) {
  return (
    <>
      <PersonName id={createdBy.id} login={createdBy.username ?? 'a deleted user'} />
      {requested.length > 0 && (
        <>
          {' asked for a review by '}
          <People ids={requested} />
        </>
      )}
      {requested.length > 0 && withdrawn.length > 0 && ', and'}
      {withdrawn.length > 0 && (
        <>
          {requested.length > 0 ? ' no longer for one by ' : ' no longer asks for a review by '}
          <People ids={withdrawn} />
        </>
      )}
    </>
  );
}

type Step = NonNullable<ChangeRequest['steps']>[number];

/** What a step did, after the state before it. */
function verbOf({ state, schedule, scheduled = false }: Step, before: Step | undefined): string {
  switch (state) {
    case 'In review':
      return before === undefined ? 'Sent to review' : 'Returned to review';
    case 'Applied':
      return scheduled ? 'Applied at its time, as scheduled' : 'Applied';
    case 'Scheduled':
      return schedule?.status === 'pending' && before?.state === 'Scheduled' ? 'Scheduled again' : 'Scheduled';
    default:
      return state;
  }
}

/** What led to a state or to a schedule: who, and for when or why. */
function StepText({ step, before }: { readonly step: Step; readonly before: Step | undefined }) {
  const { createdBy, schedule } = step;
  if (schedule !== undefined && schedule.status !== 'pending')
    return `${schedule.status === 'failed' ? 'Failed at its time' : 'The schedule was suspended'}: ${schedule.reason}`;
  const verb = verbOf(step, before);
  return (
    <>
      {createdBy === undefined
        ? verb
        : authorOf(verb, {
            ...createdBy,
            ...(createdBy.id !== undefined && createdBy.id < 0 && { username: createdBy.username ?? 'an admin token' }),
          })}
      {schedule !== undefined && (
        <>
          {' for '}
          <Time at={schedule.scheduledAt} isAbsolute />
        </>
      )}
    </>
  );
}

interface TimelineEntry {
  readonly key: string;
  readonly at: string;
  readonly text: React.ReactNode;
  readonly comment?: Comment;
}

/** The states, reviews and comments of a change request in order of time, and a field for a new comment. */
export function ChangeRequestTimeline({
  request,
  drafts,
}: {
  readonly request: ChangeRequest;
  readonly drafts: CommentDrafts;
}) {
  const {
    approvals = [],
    rejections = [],
    comments = [],
    reviewRequests = [],
    stateTimestamps = {},
    steps = [],
    createdAt,
    createdBy,
  } = request;
  const isTold = ({ state, createdAt: at }: Pick<Step, 'state' | 'createdAt'>): boolean =>
    // Who approved or rejected is told below.
    state === 'Rejected' || (state === 'Approved' && approvals.some((approval) => approval.createdAt === at));
  const known = new Set(steps.map(({ state }) => state));
  const entries: readonly TimelineEntry[] = [
    { at: createdAt, text: authorOf('Created', createdBy), key: 'created' },
    // From before steps were stored.
    ...Object.entries(stateTimestamps)
      .map(([state, at]) => ({ state: state as ChangeRequestState, createdAt: String(at) }))
      .filter((entry) => entry.state !== 'Draft' && !known.has(entry.state) && !isTold(entry))
      .map(({ state, createdAt: at }) => ({ at, text: state, key: state })),
    ...steps.flatMap((step, index) =>
      isTold(step)
        ? []
        : {
            at: step.createdAt,
            text: <StepText step={step} before={steps[index - 1]} />,
            key: `step-${index}`,
          },
    ),
    ...reviewRequests.map((entry, index) => ({
      at: entry.createdAt,
      text: <ReviewRequest request={entry} />,
      key: `review-request-${index}`,
    })),
    ...approvals.map((entry, index) => ({
      at: entry.createdAt,
      text: authorOf('Approved', entry.createdBy),
      key: `approval-${index}`,
    })),
    ...rejections.map((entry, index) => ({
      at: entry.createdAt,
      text: authorOf('Rejected', entry.createdBy),
      key: `rejection-${index}`,
    })),
    ...comments.map((entry, index) => ({
      at: entry.createdAt,
      text: authorOf('Comment', entry.createdBy),
      comment: entry,
      key: `comment-${entry.id ?? index}`,
    })),
  ];
  const sorted = entries.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return (
    <section className={layout['card']} aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <ol className={styles['timeline']}>
        {sorted.map(({ key, text, at, comment }) => (
          <li key={key}>
            <div className={styles['entry']}>
              <span>
                {text}
                {comment !== undefined && <CommentedChange request={request} change={comment.change} />}
              </span>
              <span className={layout['small']}>
                <Time at={at} />
              </span>
            </div>
            {comment !== undefined && (
              <p className={styles['comment']} dir="auto">
                {comment.text}
              </p>
            )}
          </li>
        ))}
      </ol>
      <CommentForm
        request={request}
        label="Comment"
        hint={drafts.hasLostChange ? 'The change that you commented on was discarded meanwhile.' : undefined}
        drafts={drafts}
      />
    </section>
  );
}
