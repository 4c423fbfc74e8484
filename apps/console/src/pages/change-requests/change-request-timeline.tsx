import { AddComment, type ChangeRequest, GetChangeRequest } from '@bunting/contracts';
import { useState } from 'react';
import { useOperationMutation } from '../../api/queries.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { Time } from '../../components/content/time.tsx';
import { changeRequestsMessages } from '../../messages/change-requests.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './change-requests.module.css';

interface RequestProps {
  readonly request: ChangeRequest;
}

interface TimelineEntry {
  readonly key: string;
  readonly at: string;
  readonly text: string;
  readonly comment?: string;
}

/** What has happened to the request, and the comments on it, with a field for another. */
export const ChangeRequestTimeline = ({ request }: RequestProps) => {
  const { approvals = [], rejections = [], comments = [], stateTimestamps = {}, createdAt, createdBy } = request;
  const entries: readonly TimelineEntry[] = [
    { at: createdAt, text: changeRequestsMessages.createdBy(createdBy.username ?? ''), key: 'created' },
    ...Object.entries(stateTimestamps)
      .filter(([state]) => state !== 'Draft')
      .map(([state, at]) => ({ at: String(at), text: state, key: state })),
    ...approvals.map((one, nth) => ({
      at: one.createdAt,
      text: changeRequestsMessages.approvedBy(one.createdBy.username ?? ''),
      key: `approval-${nth}`,
    })),
    ...rejections.map((one, nth) => ({
      at: one.createdAt,
      text: changeRequestsMessages.rejectedBy(one.createdBy.username ?? ''),
      key: `rejection-${nth}`,
    })),
    ...comments.map((one, nth) => ({
      at: one.createdAt,
      text: changeRequestsMessages.commentBy(one.createdBy.username ?? ''),
      comment: one.text,
      key: `comment-${one.id ?? nth}`,
    })),
  ];
  const sorted = entries.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const [text, setText] = useState('');
  const comment = useOperationMutation(AddComment, [GetChangeRequest]);
  return (
    <section className={layout['card']} aria-labelledby="timeline">
      <h2 id="timeline">{changeRequestsMessages.timeline}</h2>
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
          comment.mutate(
            { params: { projectId: request.project, id: request.id }, body: { text } },
            { onSuccess: () => setText('') },
          );
        }}
      >
        <TextField label={changeRequestsMessages.comment} rows={2} value={text} onChange={setText} />
        {comment.error !== null && <ErrorNotice error={comment.error} />}
        <div>
          <Button type="submit" size="small" isPending={comment.isPending} isDisabled={text.trim() === ''}>
            {changeRequestsMessages.addComment}
          </Button>
        </div>
      </form>
    </section>
  );
};
