import { UpdateSegment } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { type FormValues, formValuesOf } from '../../../components/forms/request-body-schema.ts';
import { Button, buttonClass } from '../../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../../components/content/notice.tsx';
import { segmentsMessages as text } from '../../../messages/administration/segments.ts';
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
      {propose.error?.kind === 'PreconditionFailed' && <Notice tone="warning">{text.proposalConflict}</Notice>}
      {propose.error !== null && propose.error.kind !== 'PreconditionFailed' && <ErrorNotice error={propose.error} />}
      {data !== undefined && (
        <Notice
          actions={
            <Link
              to="/projects/$project/change-requests/$id"
              params={{ project: target.project, id: String(data.id) }}
              className={buttonClass({ size: 'small' })}
            >
              {text.showProposal}
            </Link>
          }
        >
          {text.proposed(data.id)}
        </Notice>
      )}
      <Notice
        actions={
          <Button size="small" isPending={propose.isPending} onPress={() => propose.mutate({ target, edit })}>
            {text.propose}
          </Button>
        }
      >
        {target.maySkip ? text.appliesDirectly(target.environments) : text.protected(target.environments)}
      </Notice>
    </>
  );
};
