import { UpdateSegment } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { type FormValues, formValuesOf } from '../../../components/forms/request-body-schema.ts';
import { Button, buttonClass } from '../../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../../components/content/notice.tsx';
import { type ProposalTarget, type SegmentEdit, useProposeSegmentEdit } from './propose-segment-edit.ts';

interface ProposeSegmentButtonProps extends SegmentEdit {
  readonly target: ProposalTarget;
  readonly onReset: (values: FormValues) => void;
}

/** Offers to propose the edit of a segment whose project has protected environments. */
export const ProposeSegmentButton = ({ target, onReset, ...edit }: ProposeSegmentButtonProps) => {
  const propose = useProposeSegmentEdit((_changeRequest, proposal) =>
    onReset(formValuesOf(UpdateSegment.body, proposal.edit.base)),
  );
  const { data } = propose;
  return (
    <>
      {propose.error?.kind === 'PreconditionFailed' && (
        <Notice tone="warning">
          Another person has changed the same fields meanwhile. Load the page again before you propose it.
        </Notice>
      )}
      {propose.error !== null && propose.error.kind !== 'PreconditionFailed' && <ErrorNotice error={propose.error} />}
      {data !== undefined && (
        <Notice
          actions={
            <Link
              to="/projects/$project/change-requests/$id"
              params={{ project: target.project, id: String(data.id) }}
              className={buttonClass({ size: 'small' })}
            >
              Show the change request
            </Link>
          }
        >
          Added to change request {data.id}.
        </Notice>
      )}
      <Notice
        actions={
          <Button size="small" isPending={propose.isPending} onPress={() => propose.mutate({ target, edit })}>
            Propose in a change request
          </Button>
        }
      >
        {target.maySkip
          ? `${target.environments.join(' and ')} ${target.environments.length === 1 ? 'is' : 'are'} protected in the project. You have the permission to skip change requests: Save applies directly, without approval.`
          : `${target.environments.join(' and ')} ${target.environments.length === 1 ? 'is' : 'are'} protected in the project: what you enter here can become part of your change request. To save it without one takes the permission SKIP_CHANGE_REQUEST, which you lack.`}
      </Notice>
    </>
  );
};
