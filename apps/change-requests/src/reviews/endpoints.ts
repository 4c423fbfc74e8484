import type { Bus, CallContext } from '@bunting/bus';
import type { ChangeRequest } from '../requests/change-request.ts';
import { judgeRequest, type Judgement, type ReviewFacts } from '../domain/review/judge-request.ts';
import type { RolesOf } from './request-roles.ts';
import { type ApprovalFacts, reasonToTakeBack, takeBackApprovals } from './approvals.ts';
import type { ChangeRequestReader } from '../persistence/change-request-reader.ts';
import type { Transaction, UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import { loadReviewFacts } from '../operations/reviews/load-review-facts.ts';

interface Options {
  readonly bus: Bus;
  readonly reader: ChangeRequestReader;
  readonly transaction: UnitOfWork;
  readonly rolesOf: RolesOf;
}

/** Takes back approvals of a locked request that do not count any more, with the reason; nothing if all of them suffice. */
export const takeBackLocked = async (
  { requests }: Transaction,
  before: ChangeRequest,
  facts: ApprovalFacts,
): Promise<ChangeRequest> => {
  const text = before.applying === null ? reasonToTakeBack(before, facts) : undefined;
  if (text === undefined) return before;
  const comment = { id: await requests.newCommentId(), text };
  const decision = takeBackApprovals(before, facts, comment, requests.now());
  await requests.save(decision);
  return decision.request;
};

/**
 * Takes back what no longer counts in requests of a project: approvals of users who lost the permission, were disabled or deleted, and the approved
 * state of requests that need more approvals than they have. Returns whether it took back anything.
 */
export type RecheckApprovals = (
  project: string,
  requests: readonly ChangeRequest[],
  context: CallContext,
  facts?: ReviewFacts,
) => Promise<boolean>;

export const approvalsRecheck =
  ({ bus, reader, transaction, rolesOf }: Options): RecheckApprovals =>
  async (project, requests, context, loaded) => {
    const reviewed = requests.filter(({ approvals, applying }) => approvals.length > 0 && applying === null);
    if (reviewed.length === 0) return false;
    const [facts, protections] = await Promise.all([
      loaded ?? loadReviewFacts(bus, project, reviewed, context),
      reader.protectedEnvironments(project),
    ]);
    const lacking = reviewed.filter(
      (request) => reasonToTakeBack(request, judgeRequest(request, protections, facts, rolesOf)) !== undefined,
    );
    let isTakenBack = false;
    for (const { id } of lacking) {
      const changed = await transaction(context, async (tx) => {
        const before = await tx.requests.getOfAnyProjectForUpdate(id);
        if (before === undefined) return false;
        return (await takeBackLocked(tx, before, await judgeLocked(tx, before, facts, rolesOf))) !== before;
      });
      isTakenBack ||= changed;
    }
    return isTakenBack;
  };

/** Judges a locked request by the protections as they stay until the end of the transaction. */
export const judgeLocked = async (
  { protections }: Transaction,
  request: ChangeRequest,
  facts: ReviewFacts,
  rolesOf: RolesOf,
): Promise<Judgement> => judgeRequest(request, await protections.ofProjectForShare(request.project), facts, rolesOf);
