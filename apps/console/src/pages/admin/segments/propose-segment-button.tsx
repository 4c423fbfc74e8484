import {
  AddChanges,
  type ChangeRequest,
  type CreateSegmentBody,
  type SegmentChange,
  UpdateSegment,
} from '@bunting/contracts';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ApiError } from '../../../api/api-error.ts';
import { call } from '../../../api/call.ts';
import { requestBodyOf, type FormValues, formValuesOf } from '../../../components/forms/request-body-schema.ts';
import { Button, buttonClass } from '../../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../../components/content/content.tsx';
import { segmentsMessages as text } from '../../../messages/administration/segments.ts';
import { threeWayMerge } from '../../../merging/three-way-merge.ts';
import type { Json } from '../../../merging/json.ts';

/** Where a segment of a project is changed by a change request. */
export interface ProposalTarget {
  readonly project: string;
  /** the protected environments of the project; the change request is for the first of them */
  readonly environments: readonly string[];
  /** whether the user may save it without a change request */
  readonly maySkip: boolean;
}

/** The request of `AddChanges` that proposes a change of a segment. */
export const addSegmentChangeRequest = (
  { project, environments: [environment = ''] }: ProposalTarget,
  body: SegmentChange,
) => ({
  params: { projectId: project, environment },
  body,
});

interface ProposeSegmentButtonProps {
  readonly id: number;
  readonly target: ProposalTarget;
  /** the segment as the form was opened with it */
  readonly base: FormValues;
  /** what has been entered */
  readonly values: FormValues;
  /** the body of a segment, from what was read or entered */
  readonly toBody: (values: FormValues) => FormValues;
  /** reads the segment as it is stored now */
  readonly readStored: () => Promise<FormValues>;
  readonly onReset: (values: FormValues) => void;
}

/** Proposes the edit of a segment whose project has protected environments, merged with what others have saved since. */
export const ProposeSegmentButton = ({
  id,
  target,
  base,
  values,
  toBody,
  readStored,
  onReset,
}: ProposeSegmentButtonProps) => {
  const segmentBodyOf = (entered: FormValues): Json => toBody(requestBodyOf(UpdateSegment.body, entered)) as Json;
  const stored = formValuesOf(UpdateSegment.body, base);
  const propose = useMutation<ChangeRequest | 'conflict', ApiError>({
    mutationFn: async () => {
      const now = formValuesOf(UpdateSegment.body, await readStored());
      const { merged, conflicts } = threeWayMerge(segmentBodyOf(stored), segmentBodyOf(values), segmentBodyOf(now));
      if (conflicts.length > 0) return 'conflict';
      const payload = { id, ...(merged as FormValues as CreateSegmentBody) };
      return call(AddChanges, addSegmentChangeRequest(target, { action: 'updateSegment', payload }));
    },
    onSuccess: (result) => {
      if (result !== 'conflict') onReset(stored);
    },
  });
  const { data } = propose;
  return (
    <>
      {propose.error !== null && <ErrorNotice error={propose.error} />}
      {data === 'conflict' && <Notice tone="warning">{text.proposalConflict}</Notice>}
      {typeof data === 'object' && (
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
