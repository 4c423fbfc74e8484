import { type ChangeRequest, UpdateSegment } from '@bunting/contracts';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ApiError } from '../../../api/api-error.ts';
import { type FormValues, formValuesOf } from '../../../components/forms/request-body-schema.ts';
import { Button, buttonClass } from '../../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../../components/content/notice.tsx';
import { segmentsMessages as text } from '../../../messages/administration/segments.ts';
import { type ProposalTarget, proposeSegmentEdit, type SegmentEdit } from './propose-segment-edit.ts';

interface ProposeSegmentButtonProps extends SegmentEdit {
  readonly target: ProposalTarget;
  readonly onReset: (values: FormValues) => void;
}

/** Offers to propose the edit of a segment whose project has protected environments. */
export const ProposeSegmentButton = ({ target, onReset, ...edit }: ProposeSegmentButtonProps) => {
  const propose = useMutation<ChangeRequest, ApiError>({
    mutationFn: () => proposeSegmentEdit(target, edit),
    onSuccess: () => onReset(formValuesOf(UpdateSegment.body, edit.base)),
  });
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
          <Button size="small" isPending={propose.isPending} onPress={() => propose.mutate()}>
            {text.propose}
          </Button>
        }
      >
        {target.maySkip ? text.appliesDirectly(target.environments) : text.protected(target.environments)}
      </Notice>
    </>
  );
};
