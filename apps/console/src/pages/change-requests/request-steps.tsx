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
import { useCommand, useMe } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { ErrorNotice } from '../../components/content.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { strategyMessages } from '../../messages/strategy.ts';
import { changeRequestsMessages } from '../../messages/change-requests.ts';
import { messages } from '../../messages/shared.ts';
import { notify } from '../../shell/toasts.tsx';
import { useActions } from '../../shell/actions.ts';
import { type Step, stepsOf } from './steps.ts';
import layout from '../../components/layout.module.css';

interface RequestProps {
  readonly request: ChangeRequest;
}

/** Moves the request to another state. The revision that was read goes along: what has changed meanwhile is not approved unseen. */
export const RequestSteps = ({ request }: RequestProps) => {
  const [step, setStep] = useState<Step | undefined>();
  const [comment, setComment] = useState('');
  const [time, setTime] = useState('');
  const me = useMe().data?.user.id;
  const navigate = useNavigate();
  const change = useCommand(ChangeState, [GetChangeRequest, PreviewChangeRequest]);
  const revert = useCommand(RevertChangeRequest);
  const params = { projectId: request.project, id: request.id };
  const steps = stepsOf(request.state, request.createdBy.id === me);
  const open = (next: Step): void => {
    change.reset();
    setComment('');
    setTime('');
    setStep(next);
  };
  useActions(
    steps.map((one) => ({
      id: `change-request.${one.id}`,
      title: changeRequestsMessages.steps[one.id],
      ...(one.key === undefined ? {} : { key: one.key }),
      run: () => open(one),
    })),
  );
  const take = async ({ id, state }: Step): Promise<void> => {
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
    setStep(undefined);
  };
  const error = change.error ?? revert.error;
  return (
    <>
      {steps.map((one, nth) => (
        <Button key={one.id} variant={nth === 0 ? 'primary' : 'secondary'} onPress={() => open(one)}>
          {changeRequestsMessages.steps[one.id]}
        </Button>
      ))}
      {step !== undefined && (
        <Dialog
          title={changeRequestsMessages.steps[step.id]}
          onClose={() => setStep(undefined)}
          onSubmit={(event) => {
            event.preventDefault();
            // What failed is shown in the dialog.
            take(step).catch(() => undefined);
          }}
          footer={
            <>
              <Button onPress={() => setStep(undefined)}>{messages.common.cancel}</Button>
              <Button
                type="submit"
                variant={step.isDangerous === true ? 'danger' : 'primary'}
                isPending={change.isPending || revert.isPending}
                isDisabled={step.id === 'schedule' && Number.isNaN(new Date(time).getTime())}
              >
                {changeRequestsMessages.steps[step.id]}
              </Button>
            </>
          }
        >
          <div className={layout['denseStack']}>
            <p>{changeRequestsMessages.explained[step.id]}</p>
            {step.id === 'schedule' && (
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
            {step.state !== undefined && (
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
