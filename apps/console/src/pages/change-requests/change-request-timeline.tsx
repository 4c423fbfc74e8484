import { AddComment, type ChangeRequest } from '@bunting/contracts';
import { useState } from 'react';
import { useOperationMutation } from '../../api/queries-and-mutations.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { Time } from '../../components/content/time.tsx';
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

/** The states, reviews and comments of a change request in order of time, and a field for a new comment. */
export const ChangeRequestTimeline = ({ request }: RequestProps) => {
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
};
