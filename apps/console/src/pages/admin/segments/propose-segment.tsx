import {
  type CreateSegmentBody,
  type Json,
  type SegmentChange,
  threeWayMerge,
  UpdateSegment,
} from '@bunting/contracts';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ApiError } from '../../../api/api-error.ts';
import { propose, type Proposed } from '../../../changes/propose.ts';
import { missingPermission } from '../../../text/permission-words.ts';
import { Button, buttonClass } from '../../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../../components/content/notice.tsx';
import { type FormValues, formValuesOf, requestBodyOf } from '../../../components/forms/request-body-schema.ts';

/** The project of a segment whose changes need a change request, and its protected environments. */
export interface ProposalTarget {
  readonly project: string;
  /** the protected environments of the project; a change request belongs to one environment, which is the first of these */
  readonly environments: readonly string[];
  /** whether the user may save a change without a change request */
  readonly maySkip: boolean;
}

/** The request of `AddChanges` that proposes a change of a segment in a draft: what is in review stays as it was sent there. */
export function proposalRequestOf(
  { project, environments: [environment = ''] }: Omit<ProposalTarget, 'maySkip'>,
  body: SegmentChange,
) {
  return {
    params: { projectId: project, environment },
    query: { new: true },
    body,
  };
}

/** An edit of a segment in its form. */
interface SegmentEdit {
  readonly id: number;
  /** the stored state that the form edits */
  readonly base: FormValues;
  /** the current values of the form */
  readonly values: FormValues;
  /** completes the request body of a segment, as the form does before it sends the body */
  readonly toBody: (values: FormValues) => FormValues;
  /** reads the segment as it is stored now */
  readonly readStored: () => Promise<FormValues>;
}

function segmentBodyOf({ toBody }: SegmentEdit, formValues: FormValues): Json {
  return toBody(requestBodyOf(UpdateSegment.body, formValues)) as Json;
}

/**
 * Proposes an edit in a change request, merged with what others have saved since its base was read.
 * @throws ApiError `PreconditionFailed` where another person has changed the same fields
 */
async function proposeSegmentEdit(
  target: Omit<ProposalTarget, 'maySkip'>,
  edit: SegmentEdit,
): Promise<Proposed['changeRequest']> {
  const [base, mine, theirs] = [
    formValuesOf(UpdateSegment.body, edit.base),
    edit.values,
    formValuesOf(UpdateSegment.body, await edit.readStored()),
  ].map((formValues) => segmentBodyOf(edit, formValues)) as [Json, Json, Json];
  const { merged, conflicts } = threeWayMerge(base, mine, theirs);
  if (conflicts.length > 0)
    throw new ApiError(
      'PreconditionFailed',
      'Another person has changed the same fields meanwhile. Load the page again before you propose it.',
    );
  const payload = { id: edit.id, ...(merged as FormValues as CreateSegmentBody) };
  const { project, environments } = target;
  return (await propose({ project, environment: environments[0] ?? '' }, { action: 'updateSegment', payload }))
    .changeRequest;
}

interface SegmentEditProposal {
  readonly target: Omit<ProposalTarget, 'maySkip'>;
  readonly edit: SegmentEdit;
}

/** A mutation that proposes an edit of a segment. */
export function useProposeSegmentEdit(
  onSuccess?: (changeRequest: Proposed['changeRequest'], proposal: SegmentEditProposal) => void,
) {
  return useMutation<Proposed['changeRequest'], ApiError, SegmentEditProposal>({
    mutationFn: ({ target, edit }) => proposeSegmentEdit(target, edit),
    ...(onSuccess && { onSuccess }),
  });
}

interface ProposeSegmentButtonProps extends SegmentEdit {
  readonly target: ProposalTarget;
  /** whether nothing is missing in the form; it says what is */
  readonly isComplete: (values: FormValues) => boolean;
  readonly onReset: (values: FormValues) => void;
}

/** Offers to propose the edit of a segment whose project has protected environments. */
export function ProposeSegmentButton({ target, isComplete, onReset, ...edit }: ProposeSegmentButtonProps) {
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
          <Button
            size="small"
            isPending={propose.isPending}
            onPress={() => isComplete(edit.values) && propose.mutate({ target, edit })}
          >
            Propose in a change request
          </Button>
        }
      >
        {target.maySkip
          ? `${target.environments.join(' and ')} ${target.environments.length === 1 ? 'is' : 'are'} protected in the project. You have the permission to skip change requests: Save applies directly, without approval.`
          : `${target.environments.join(' and ')} ${target.environments.length === 1 ? 'is' : 'are'} protected in the project: what you enter here can become part of your change request. To save it without one takes ${missingPermission(['SKIP_CHANGE_REQUEST'])}.`}
      </Notice>
    </>
  );
}
