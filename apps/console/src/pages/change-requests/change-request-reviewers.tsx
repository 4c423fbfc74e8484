import {
  type ChangeRequest,
  type ChangeRequestReview,
  isClosedState,
  ListProjectRoleHolders,
  SetApprovers,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMayCall } from '../../api/permissions.ts';
import { operationQuery, useMe, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { Badge } from '../../components/content/badge.tsx';
import { Initials } from '../../components/content/initials.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { Time } from '../../components/content/time.tsx';
import { FormDialog } from '../../components/dialogs/dialog.tsx';
import { MultiComboBox } from '../../components/forms/multi-combo-box.tsx';
import layout from '../../components/layout/layout.module.css';
import { notify } from '../../shell/toasts.tsx';
import { formatCount } from '../../text/format-number.ts';
import { displayNameOf } from '../admin/people/user-names.tsx';
import styles from './change-requests.module.css';

type Reviewer = ChangeRequestReview['reviewers'][number];

interface ReviewProps {
  readonly request: ChangeRequest;
  readonly review: ChangeRequestReview;
}

/** The number of people who may approve that are named; of more, the number is said. */
const maxNames = 5;

/** The reader first. */
function namesOf(people: readonly Reviewer[], reader: number | undefined): string {
  const others = people.filter(({ id }) => id !== reader);
  const names = [...(others.length < people.length ? ['You'] : []), ...others.map(displayNameOf)].slice(0, maxNames);
  const more = people.length - names.length;
  return [...names.slice(0, more > 0 ? undefined : -1), more > 0 ? `${more} more` : (names.at(-1) ?? '')]
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1');
}

/** What a request waits for, in one sentence. */
function waitingFor(
  { state, environment }: ChangeRequest,
  { missingApprovals, reviewers }: ChangeRequestReview,
  reader: number | undefined,
): string {
  const undecided = reviewers.filter(({ mayApprove, status }) => mayApprove && status === 'pending');
  switch (state) {
    case 'Draft':
      return 'Only its author sees this draft. It is reviewed after it was sent to review.';
    case 'In review':
      return undecided.length === 0
        ? `It lacks ${formatCount(missingApprovals, 'approval')}, and nobody else may approve in ${environment}. An administrator can give somebody the permission.`
        : `It waits for ${formatCount(missingApprovals, 'approval')}. ${namesOf(undecided, reader)} may approve it.`;
    case 'Approved':
      return 'It has the approvals that it needs, and can be applied.';
    case 'Scheduled':
      return 'It has the approvals that it needs, and is scheduled.';
    case 'Applied':
      return 'It was approved and applied.';
    case 'Cancelled':
      return 'It was cancelled: its changes were not made.';
    case 'Rejected':
      return 'It was rejected: its changes were not made.';
  }
}

const statusTexts = { approved: 'Approved', rejected: 'Rejected', pending: 'Asked' } as const;
const statusTones = { approved: 'good', rejected: 'danger', pending: 'neutral' } as const;

/** Who has decided about a request, who is asked to, and what is missing. */
export function ChangeRequestReviewers({ request, review }: ReviewProps) {
  const { data: me } = useMe();
  const people = review.reviewers.filter(({ status, isRequested }) => isRequested || status !== 'pending');
  const decisions = [...(request.approvals ?? []), ...(request.rejections ?? [])];
  return (
    <section className={layout['card']} aria-labelledby="review">
      <h2 id="review">Review</h2>
      <p>{waitingFor(request, review, me?.user.id)}</p>
      {people.length > 0 && (
        <ul className={layout['denseStack']} aria-label="Reviewers">
          {people.map((person) => {
            const decision = decisions.find(({ createdBy }) => createdBy.id === person.id);
            const name = displayNameOf({ ...person, username: person.username ?? decision?.createdBy.username });
            return (
              <li key={person.id} className={styles['reviewer']}>
                <Initials name={name} />
                <span>
                  <bdi>{name}</bdi>
                  {!person.mayApprove && person.status === 'pending' && !isClosedState(request.state) && (
                    <div className={layout['small']}>may not approve</div>
                  )}
                  {decision !== undefined && (
                    <div className={layout['small']}>
                      <Time at={decision.createdAt} />
                    </div>
                  )}
                </span>
                <Badge tone={statusTones[person.status]}>{statusTexts[person.status]}</Badge>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}

/** The maximum number of reviewers of a request. */
const maxReviewers = 10;

/** The members of groups who may approve, by group; none for users who may not see the groups of the project. */
function useGroupsOfApprovers(project: string, approvers: readonly number[]) {
  const mayCall = useMayCall();
  const { data } = useQuery({
    ...operationQuery(ListProjectRoleHolders, { params: { projectId: project } }),
    enabled: mayCall(ListProjectRoleHolders, { project }),
    staleTime: 60_000,
  });
  const membersOf = (groupId: number): readonly number[] =>
    (data?.users ?? [])
      .filter(({ id, through }) => approvers.includes(id) && through.some(({ group }) => group === groupId))
      .map(({ id }) => id);
  return new Map(
    (data?.groups ?? [])
      .map(({ id, name }) => [name, membersOf(id)] as const)
      .filter(([, members]) => members.length > 0),
  );
}

/** Asks people, or the members of a group, for their review. */
export function RequestReviewersDialog({ request, review, onClose }: ReviewProps & { readonly onClose: () => void }) {
  const requested = review.reviewers.filter(({ isRequested }) => isRequested).map(({ id }) => String(id));
  const [chosen, setChosen] = useState<readonly string[]>(requested);
  const save = useOperationMutation(SetApprovers, 'handled');
  const candidates = review.reviewers.filter(({ mayApprove, isRequested }) => mayApprove || isRequested);
  const groups = useGroupsOfApprovers(
    request.project,
    candidates.filter(({ mayApprove }) => mayApprove).map(({ id }) => id),
  );
  const choose = (ids: readonly string[]): void => {
    const members = ids.flatMap((id) => (id.startsWith('group ') ? (groups.get(id.slice(6)) ?? []).map(String) : [id]));
    setChosen([...new Set(members)]);
  };
  const isTooMany = chosen.length > maxReviewers;
  return (
    <FormDialog
      title="Request reviewers"
      onClose={onClose}
      onSubmit={() => {
        save.mutate(
          {
            params: { projectId: request.project, id: request.id },
            body: { reviewers: chosen.map(Number) },
            ifMatch: undefined,
          },
          {
            onSuccess: () => {
              notify(chosen.length === 0 ? 'Nobody is asked any more.' : 'They find it among what waits for them.');
              onClose();
            },
          },
        );
      }}
      submit="Request"
      isPending={save.isPending}
      isDisabled={isTooMany}
    >
      <div className={layout['denseStack']}>
        <MultiComboBox
          label="People and groups"
          hint="Everybody who may approve can still do so, whether asked or not."
          options={[
            ...[...groups].map(([name, members]) => ({
              id: `group ${name}`,
              label: `${name} (group)`,
              description: formatCount(members.length, 'person', 'people'),
            })),
            ...candidates.map((person) => ({ id: String(person.id), label: displayNameOf(person) })),
          ]}
          value={chosen}
          onChange={choose}
          emptyText="Nobody is asked."
        />
        {isTooMany && <p role="alert">At most {maxReviewers} people can be asked. Remove some of them.</p>}
        <ErrorNotice error={save.error} />
      </div>
    </FormDialog>
  );
}
