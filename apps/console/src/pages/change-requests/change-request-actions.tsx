import {
  type ChangeRequest,
  type ChangeRequestReview,
  type ChangeRequestState,
  type ChangeRequestStateBody,
  ChangeState,
  RevertChangeRequest,
} from '@bunting/contracts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { serverNow } from '../../api/server-clock.ts';
import { usePermissionCheck } from '../../api/permissions.ts';
import { useOperationMutation } from '../../api/queries-and-mutations.ts';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import { Menu } from '../../components/buttons/menu.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { formatWithOffset } from '../../components/content/time.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import layout from '../../components/layout/layout.module.css';
import { usePageActions } from '../../shell/page-actions.ts';
import { copyText } from '../../shell/copy-text.ts';
import { notify, notifyError } from '../../shell/toasts.tsx';
import { useChangeRequestPreview } from './change-request-changes.tsx';
import { type ChangeRequestAction, offeredActions } from './offered-actions.ts';

/** The next state of the request; an action without one is no step of the request itself. */
const stateAfter: { readonly [action in ChangeRequestAction]?: ChangeRequestState } = {
  submit: 'In review',
  approve: 'Approved',
  reject: 'Rejected',
  cancel: 'Cancelled',
  apply: 'Applied',
  schedule: 'Scheduled',
};

/** What is next for a request has the same key in each of its states: only one of the first three is offered at a time. */
const keys: { readonly [action in ChangeRequestAction]?: string } = {
  submit: 'a',
  approve: 'a',
  apply: 'a',
  reject: 'r',
};
const dangerous: ReadonlySet<ChangeRequestAction> = new Set(['reject', 'cancel']);

const texts = {
  actions: {
    submit: 'Send to review',
    approve: 'Approve',
    reject: 'Reject',
    cancel: 'Cancel the request',
    apply: 'Apply',
    schedule: 'Schedule',
    revert: 'Revert',
    askReviewers: 'Request reviewers',
    copyLink: 'Copy link',
    rename: 'Edit the title',
  },
  notifications: {
    submit: 'It is in review.',
    approve: 'Approved.',
    reject: 'Rejected.',
    cancel: 'Cancelled.',
    apply: 'Applied.',
    schedule: 'Scheduled.',
  },
  explained: {
    approve: 'You agree with its changes as they are shown here.',
    reject: 'This closes the request. Nothing changes.',
    cancel: 'This closes the request. Nothing changes.',
    apply: 'All of its changes are made together, now.',
    schedule: 'All of its changes are made together at the time below.',
    revert: 'A new change request puts back what this one has changed. It needs review as any other.',
  },
} as const;

type ConfirmedAction = keyof typeof texts.explained;

function isConfirmed(action: ChangeRequestAction): action is ConfirmedAction {
  return action in texts.explained;
}

function labelOf(action: ChangeRequestAction, { state }: ChangeRequest): string {
  return action === 'schedule' && state === 'Scheduled' ? 'Reschedule' : texts.actions[action];
}

/** Whether the approval of the user is the last that a request needs, and the user may apply it then. */
function useMayApplyOnceApproved(
  { project, environment, affectedEnvironments }: ChangeRequest,
  review: ChangeRequestReview,
) {
  const hasPermission = usePermissionCheck();
  return (
    review.missingApprovals <= 1 &&
    (affectedEnvironments ?? [environment]).every((affected) =>
      hasPermission('APPLY_CHANGE_REQUEST', { project, environment: affected }),
    )
  );
}

interface ActionDialogProps {
  readonly request: ChangeRequest;
  readonly review: ChangeRequestReview;
  readonly action: ConfirmedAction;
  readonly isApplicable: boolean | undefined;
  readonly onClose: () => void;
}

/**
 * Asks before a step of a request, with a comment. The call names the revision on the screen, and an approval the basis of the preview: nothing is
 * approved unseen.
 */
function ActionDialog({ request, review, action, isApplicable, onClose }: ActionDialogProps) {
  const mayApplyThen = useMayApplyOnceApproved(request, review) && action === 'approve' && isApplicable === true;
  const [comment, setComment] = useState('');
  const [time, setTime] = useState('');
  const entered = new Date(time).getTime();
  const navigate = useNavigate();
  const changeState = useOperationMutation(ChangeState, 'handled');
  const revert = useOperationMutation(RevertChangeRequest, 'handled');
  const params = { projectId: request.project, id: request.id };
  const state = stateAfter[action];
  const preview = useChangeRequestPreview(request);
  const basis = action === 'approve' ? preview.data?.basis : undefined;
  const [isPast, setPast] = useState(false);
  const execute = async (appliesThen = false): Promise<void> => {
    if (state === undefined || action === 'revert') {
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
        ...(action === 'schedule' ? { scheduledAt: new Date(time).toISOString() } : {}),
        ...(request.revision === undefined ? {} : { revision: request.revision }),
        ...(basis == null ? {} : { basis }),
      };
      await changeState.mutateAsync({ params, body, ifMatch: undefined }).catch((failure: unknown) => {
        void preview.refetch();
        throw failure;
      });
      // The approval stands, also where the rest is refused.
      if (appliesThen) await applyApproved();
      else notify(texts.notifications[action]);
    }
    onClose();
  };
  const applyApproved = async (): Promise<void> => {
    try {
      const body = {
        state: 'Applied',
        ...(request.revision === undefined ? {} : { revision: request.revision }),
      } as const;
      await changeState.mutateAsync({ params, body, ifMatch: undefined });
      notify(texts.notifications.apply);
    } catch (failure) {
      notify(texts.notifications.approve);
      notifyError(failure);
    }
  };
  const error = changeState.error ?? revert.error;
  return (
    <Dialog
      title={labelOf(action, request)}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        // The dialog shows the error of the mutation.
        execute().catch(() => undefined);
      }}
      footer={
        <>
          <Button onPress={onClose}>{dangerous.has(action) ? 'Keep it' : 'Cancel'}</Button>
          {mayApplyThen && (
            <Button isPending={changeState.isPending} onPress={() => void execute(true).catch(() => undefined)}>
              Approve and apply
            </Button>
          )}
          <Button
            type="submit"
            variant={dangerous.has(action) ? 'danger' : 'primary'}
            isPending={changeState.isPending || revert.isPending}
            isDisabled={action === 'schedule' && (Number.isNaN(entered) || isPast)}
            autoFocus={action !== 'schedule' && !dangerous.has(action)}
          >
            {labelOf(action, request)}
          </Button>
        </>
      }
    >
      <div className={layout['denseStack']}>
        <p>{texts.explained[action]}</p>
        {action === 'schedule' && (
          <TextField
            label="Apply at"
            hint={`In your time zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}${Number.isNaN(entered) ? '' : `: ${formatWithOffset(entered)}`}.`}
            type="datetime-local"
            value={time}
            onChange={(text) => {
              setTime(text);
              setPast(new Date(text).getTime() <= serverNow());
            }}
            error={isPast ? 'Choose a time in the future.' : undefined}
            isRequired
            autoFocus
          />
        )}
        {state !== undefined && (
          <TextField
            label="Comment (optional)"
            rows={2}
            value={comment}
            onChange={setComment}
            autoFocus={dangerous.has(action)}
          />
        )}
        <ErrorNotice error={error} />
      </div>
    </Dialog>
  );
}

interface ChangeRequestActionsProps {
  readonly request: ChangeRequest;
  readonly review: ChangeRequestReview;
  /** whether its changes could be applied now; undefined while that is not known */
  readonly isApplicable: boolean | undefined;
  readonly onAskReviewers: () => void;
  readonly onRename: () => void;
}

/** What the user may do with a request: the next step as the primary button, and what ends it in a menu. */
export function ChangeRequestActions({
  request,
  review,
  isApplicable,
  onAskReviewers,
  onRename,
}: ChangeRequestActionsProps) {
  const [action, setAction] = useState<ConfirmedAction | undefined>();
  const { primary, secondary, inMenu } = offeredActions(request, review, {
    isApplicable,
    canCopy: window.isSecureContext,
  });
  const send = useOperationMutation(ChangeState, 'notified', () => notify(texts.notifications.submit));
  const submit = (): void => {
    const { project, id, revision } = request;
    const body = { state: 'In review', ...(revision === undefined ? {} : { revision }) } as const;
    send.mutate({ params: { projectId: project, id }, body, ifMatch: undefined });
  };
  const run = (chosen: ChangeRequestAction): void => {
    if (isConfirmed(chosen)) return setAction(chosen);
    if (chosen === 'submit') return submit();
    if (chosen === 'askReviewers') return onAskReviewers();
    if (chosen === 'rename') return onRename();
    void copyText(location.href).then((isCopied) => isCopied && notify('The link is copied.'));
  };
  const offered = [...(primary === undefined ? [] : [primary]), ...secondary, ...inMenu];
  usePageActions(
    offered.map((id) => ({
      id: `change-request.${id}`,
      title: labelOf(id, request),
      ...(keys[id] === undefined ? {} : { key: keys[id] }),
      run: () => run(id),
    })),
  );
  return (
    <>
      {primary !== undefined && (
        <Button variant="primary" isPending={send.isPending} onPress={() => run(primary)}>
          {labelOf(primary, request)}
        </Button>
      )}
      {secondary.map((id) => (
        <Button key={id} onPress={() => run(id)}>
          {labelOf(id, request)}
        </Button>
      ))}
      {inMenu.length > 0 && (
        <Menu
          label="More actions"
          entries={inMenu.map((id) => ({
            id,
            label: labelOf(id, request),
            ...(dangerous.has(id) && { icon: 'close' as const }),
            run: () => run(id),
          }))}
        >
          <IconButton icon="more" label="More actions" />
        </Menu>
      )}
      {action !== undefined && (
        <ActionDialog
          key={action}
          request={request}
          review={review}
          action={action}
          isApplicable={isApplicable}
          onClose={() => setAction(undefined)}
        />
      )}
    </>
  );
}
