import {
  type ChangeRequest,
  type ChangeRequestState,
  type ChangeRequestStateBody,
  ChangeState,
  RevertChangeRequest,
} from '@bunting/contracts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMe, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import layout from '../../components/layout/layout.module.css';
import { usePageActions } from '../../shell/page-actions.ts';
import { notify } from '../../shell/toasts.tsx';

/** An action on a whole change request, in contrast to its single changes. */
export interface ChangeRequestAction {
  readonly id: 'submit' | 'approve' | 'reject' | 'cancel' | 'apply' | 'schedule' | 'revert';
  /** the next state of the request; undefined for an action that creates another request */
  readonly state?: ChangeRequestState;
  /** the shortcut on the page of the request */
  readonly key?: string;
  readonly isDangerous?: true;
}

const submit: ChangeRequestAction = { id: 'submit', state: 'In review' };
const approve: ChangeRequestAction = { id: 'approve', state: 'Approved', key: 'a' };
const reject: ChangeRequestAction = { id: 'reject', state: 'Rejected', key: 'r', isDangerous: true };
const cancel: ChangeRequestAction = { id: 'cancel', state: 'Cancelled', isDangerous: true };
const apply: ChangeRequestAction = { id: 'apply', state: 'Applied' };
const schedule: ChangeRequestAction = { id: 'schedule', state: 'Scheduled' };
const revert: ChangeRequestAction = { id: 'revert' };

/**
 * The actions that the state of a change request allows, the likeliest first. The server checks permissions and whether
 * authors may review their own request; it explains a refusal.
 */
function changeRequestActionsByState(state: ChangeRequestState, isAuthor: boolean): readonly ChangeRequestAction[] {
  switch (state) {
    case 'Draft':
      return isAuthor ? [submit, cancel] : [];
    case 'In review':
      return isAuthor ? [cancel, approve, reject] : [approve, reject];
    case 'Approved':
      return isAuthor ? [apply, schedule, cancel] : [apply, schedule, reject];
    case 'Scheduled':
      return isAuthor ? [apply, schedule, cancel] : [apply, schedule, reject];
    case 'Applied':
      return [revert];
    case 'Cancelled':
    case 'Rejected':
      return [];
  }
}

const texts = {
  actions: {
    submit: 'Send to review',
    approve: 'Approve',
    reject: 'Reject',
    cancel: 'Cancel the request',
    apply: 'Apply',
    schedule: 'Schedule',
    revert: 'Revert',
  },
  notifications: {
    submit: 'It is in review.',
    approve: 'Approved.',
    reject: 'Rejected.',
    cancel: 'Cancelled.',
    apply: 'Applied.',
    schedule: 'Scheduled.',
    revert: 'A request that reverts it is ready.',
  },
  explained: {
    submit: 'Reviewers see it, and can approve or reject it.',
    approve: 'You agree with its changes as they are shown here.',
    reject: 'It is closed, and its changes are not made.',
    cancel: 'It is closed, and its changes are not made.',
    apply: 'All of its changes are made together, now.',
    schedule: 'All of its changes are made together at the time below.',
    revert: 'A new change request puts back what this one has changed. It needs review as any other.',
  },
} as const;

interface RequestProps {
  readonly request: ChangeRequest;
}

/** Buttons that move a change request to another state. A call names the revision on the screen: no later change is approved unseen. */
export function ChangeRequestActions({ request }: RequestProps) {
  const [action, setAction] = useState<ChangeRequestAction | undefined>();
  const [comment, setComment] = useState('');
  const [time, setTime] = useState('');
  const userId = useMe().data?.user.id;
  const navigate = useNavigate();
  const changeState = useOperationMutation(ChangeState, 'handled');
  const revert = useOperationMutation(RevertChangeRequest, 'handled');
  const params = { projectId: request.project, id: request.id };
  const actions = changeRequestActionsByState(request.state, request.createdBy.id === userId);
  const open = (next: ChangeRequestAction): void => {
    changeState.reset();
    setComment('');
    setTime('');
    setAction(next);
  };
  usePageActions(
    actions.map((candidate) => ({
      id: `change-request.${candidate.id}`,
      title: texts.actions[candidate.id],
      ...(candidate.key === undefined ? {} : { key: candidate.key }),
      run: () => open(candidate),
    })),
  );
  const execute = async ({ id, state }: ChangeRequestAction): Promise<void> => {
    if (state === undefined) {
      const revertingRequest = await revert.mutateAsync({ params });
      notify('A request that reverts it is ready.');
      void navigate({
        to: '/projects/$project/change-requests/$id',
        params: { project: revertingRequest.project, id: String(revertingRequest.id) },
      });
    } else {
      const body: ChangeRequestStateBody = {
        state,
        ...(comment.trim() === '' ? {} : { comment: comment.trim() }),
        ...(id === 'schedule' ? { scheduledAt: new Date(time).toISOString() } : {}),
        ...(request.revision === undefined ? {} : { revision: request.revision }),
      };
      await changeState.mutateAsync({ params, body, ifMatch: undefined });
      notify(texts.notifications[id]);
    }
    setAction(undefined);
  };
  const error = changeState.error ?? revert.error;
  return (
    <>
      {actions.map((candidate, index) => (
        <Button key={candidate.id} variant={index === 0 ? 'primary' : 'secondary'} onPress={() => open(candidate)}>
          {texts.actions[candidate.id]}
        </Button>
      ))}
      {action !== undefined && (
        <Dialog
          title={texts.actions[action.id]}
          onClose={() => setAction(undefined)}
          onSubmit={(event) => {
            event.preventDefault();
            // The dialog shows the error of the mutation.
            execute(action).catch(() => undefined);
          }}
          footer={
            <>
              <Button onPress={() => setAction(undefined)}>Cancel</Button>
              <Button
                type="submit"
                variant={action.isDangerous === true ? 'danger' : 'primary'}
                isPending={changeState.isPending || revert.isPending}
                isDisabled={action.id === 'schedule' && Number.isNaN(new Date(time).getTime())}
              >
                {texts.actions[action.id]}
              </Button>
            </>
          }
        >
          <div className={layout['denseStack']}>
            <p>{texts.explained[action.id]}</p>
            {action.id === 'schedule' && (
              <TextField
                label="Apply at"
                hint={`In your time zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`}
                type="datetime-local"
                value={time}
                onChange={setTime}
                isRequired
                autoFocus
              />
            )}
            {action.state !== undefined && (
              <TextField label="Comment (optional)" rows={2} value={comment} onChange={setComment} />
            )}
            {error !== null && <ErrorNotice error={error} />}
          </div>
        </Dialog>
      )}
    </>
  );
}
