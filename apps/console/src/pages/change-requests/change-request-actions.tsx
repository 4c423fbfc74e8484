import {
  type ChangeRequest,
  ChangeState,
  type ChangeRequestStateBody,
  GetChangeRequest,
  PreviewChangeRequest,
  RevertChangeRequest,
} from '@bunting/contracts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useOperationMutation, useMe } from '../../api/queries.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { strategyMessages } from '../../messages/strategy.ts';
import { changeRequestsMessages } from '../../messages/change-requests.ts';
import { sharedMessages } from '../../messages/shared.ts';
import { notify } from '../../shell/toasts.tsx';
import { usePageActions } from '../../shell/page-actions.ts';
import { type ChangeRequestAction, changeRequestActionsByState } from './change-request-actions-by-state.ts';
import layout from '../../components/layout/layout.module.css';

interface RequestProps {
  readonly request: ChangeRequest;
}

/** Moves the request to another state. The call names the revision on the screen: later changes are not approved unseen. */
export const ChangeRequestActions = ({ request }: RequestProps) => {
  const [action, setAction] = useState<ChangeRequestAction | undefined>();
  const [comment, setComment] = useState('');
  const [time, setTime] = useState('');
  const me = useMe().data?.user.id;
  const navigate = useNavigate();
  const change = useOperationMutation(ChangeState, [GetChangeRequest, PreviewChangeRequest]);
  const revert = useOperationMutation(RevertChangeRequest);
  const params = { projectId: request.project, id: request.id };
  const actions = changeRequestActionsByState(request.state, request.createdBy.id === me);
  const open = (next: ChangeRequestAction): void => {
    change.reset();
    setComment('');
    setTime('');
    setAction(next);
  };
  usePageActions(
    actions.map((one) => ({
      id: `change-request.${one.id}`,
      title: changeRequestsMessages.steps[one.id],
      ...(one.key === undefined ? {} : { key: one.key }),
      run: () => open(one),
    })),
  );
  const take = async ({ id, state }: ChangeRequestAction): Promise<void> => {
    if (state === undefined) {
      const reverting = await revert.mutateAsync({ params });
      notify(changeRequestsMessages.reverted);
      void navigate({
        to: '/projects/$project/change-requests/$id',
        params: { project: reverting.project, id: String(reverting.id) },
      });
    } else {
      const body: ChangeRequestStateBody = {
        state,
        ...(comment.trim() === '' ? {} : { comment: comment.trim() }),
        ...(id === 'schedule' ? { scheduledAt: new Date(time).toISOString() } : {}),
        ...(request.revision === undefined ? {} : { revision: request.revision }),
      };
      await change.mutateAsync({ params, body });
      notify(changeRequestsMessages.done[id]);
    }
    setAction(undefined);
  };
  const error = change.error ?? revert.error;
  return (
    <>
      {actions.map((one, nth) => (
        <Button key={one.id} variant={nth === 0 ? 'primary' : 'secondary'} onPress={() => open(one)}>
          {changeRequestsMessages.steps[one.id]}
        </Button>
      ))}
      {action !== undefined && (
        <Dialog
          title={changeRequestsMessages.steps[action.id]}
          onClose={() => setAction(undefined)}
          onSubmit={(event) => {
            event.preventDefault();
            // What failed is shown in the dialog.
            take(action).catch(() => undefined);
          }}
          footer={
            <>
              <Button onPress={() => setAction(undefined)}>{sharedMessages.common.cancel}</Button>
              <Button
                type="submit"
                variant={action.isDangerous === true ? 'danger' : 'primary'}
                isPending={change.isPending || revert.isPending}
                isDisabled={action.id === 'schedule' && Number.isNaN(new Date(time).getTime())}
              >
                {changeRequestsMessages.steps[action.id]}
              </Button>
            </>
          }
        >
          <div className={layout['denseStack']}>
            <p>{changeRequestsMessages.explained[action.id]}</p>
            {action.id === 'schedule' && (
              <TextField
                label={changeRequestsMessages.applyAt}
                hint={strategyMessages.dateHint(Intl.DateTimeFormat().resolvedOptions().timeZone)}
                type="datetime-local"
                value={time}
                onChange={setTime}
                isRequired
                autoFocus
              />
            )}
            {action.state !== undefined && (
              <TextField
                label={changeRequestsMessages.optionalComment}
                rows={2}
                value={comment}
                onChange={setComment}
              />
            )}
            {error !== null && <ErrorNotice error={error} />}
          </div>
        </Dialog>
      )}
    </>
  );
};
