import { type Caller, systemCaller } from '@bunting/contracts';
import {
  admitApplications,
  type Admission,
  announceApplication,
  availableSlots,
  isFrontendTokenCaller,
  mayAnnounce,
  type MissingFeature,
  type ReportedApplicationInstance,
  unknownApplications,
} from '../applications/admit-applications.ts';
import type { EvaluationCount } from './evaluation-counts.ts';
import { matchCounts, findFeaturesEnteringStages, replaceUnlistedNames } from './match-counts.ts';
import type { Transaction, TransactionContext, UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import type { ApplicationBudget } from './application-budget.ts';

/** The counts and applications of one request. */
export interface Report {
  readonly counts: readonly EvaluationCount[];
  readonly applications: readonly ReportedApplicationInstance[];
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];

/**
 * Adds the counts of features that exist in the projects of the reporter's token, and moves these features to their next lifecycle stages.
 * Returns the missing features.
 */
const addCounts = async (
  { usage }: Transaction,
  reported: readonly EvaluationCount[],
  reporter: Caller,
  now: Date,
): Promise<readonly MissingFeature[]> => {
  if (reported.length === 0) return [];
  const environmentTypes = await usage.environmentTypes();
  const counted = reported.filter(({ environment }) => environmentTypes.has(environment));
  const environments = unique(counted.map(({ environment }) => environment));
  const found = await usage.findReported(unique(counted.map(({ feature }) => feature)), environments);
  const { features, counts, missing } = matchCounts(counted, found, reporter);
  if (counts.length === 0) return missing;

  const enteredAt = now.toISOString();
  const names = findFeaturesEnteringStages(features, counts, environmentTypes, enteredAt).map(({ name }) => name);
  // The decision is repeated under the lock: a concurrent report may have moved the features.
  const locked = names.length === 0 ? [] : await usage.findReportedForUpdate(names, environments);
  const progressing = findFeaturesEnteringStages(locked, counts, environmentTypes, enteredAt);

  const dueNames = await usage.addByMinute(counts, now);
  await usage.addByHour(counts, now);
  const moved = new Set(progressing.map(({ name }) => name));
  const others = dueNames.filter((name) => !moved.has(name)).map((name) => ({ name, stages: [] }));
  await usage.enterStagesAndEmit([...progressing, ...others]);
  return missing;
};

/** Returns those of the names of new applications that the budget of the token allows. */
type Grant = (names: readonly string[]) => readonly string[];

/** Takes each new application of a request from the budget of the token once, however often the transaction is retried. */
const grantOnce = ({ caller, now }: TransactionContext, { takeFromBudget }: ApplicationBudget): Grant => {
  const granted = new Map<string, boolean>();
  return (names) => {
    const newNames = names.filter((name) => !granted.has(name));
    const count = newNames.length === 0 ? 0 : takeFromBudget(caller.tokenId ?? String(caller.id), newNames.length, now);
    for (const [index, name] of newNames.entries()) granted.set(name, index < count);
    return names.filter((name) => granted.get(name));
  };
};

const admit = async (
  { applications }: Transaction,
  reported: readonly ReportedApplicationInstance[],
  { caller, now }: TransactionContext,
  { limit, grant }: { readonly limit: number; readonly grant: Grant },
): Promise<Admission> => {
  const stored = await applications.findReported(reported, now);
  const unknown = unknownApplications(reported, stored);
  const granted = grant(unknown);
  const slots = mayAnnounce(granted, stored)
    ? availableSlots(await applications.lockAndCount(), limit, isFrontendTokenCaller(caller))
    : 0;
  return admitApplications(reported, stored, { unknown, granted, slots });
};

/** Stores a report; the reply is sent after the commit. */
export type StoreReport = <R>(request: TransactionContext, report: Report, reply: R) => Promise<R>;

/**
 * Stores reports. The state of a feature is emitted when it enters a lifecycle stage, and otherwise about once a minute. The actor of
 * events about applications is the system. Applications beyond the limits are not listed; their counts are stored without their names.
 */
export const storeReport =
  (transaction: UnitOfWork, budget: ApplicationBudget): StoreReport =>
  async (request, { counts, applications }, reply) => {
    const grant = grantOnce(request, budget);
    let unlisted: Admission['unlisted'] = { limit: 0, rate: 0 };
    await transaction({ ...request, caller: systemCaller }, async (tx) => {
      const admission = await admit(tx, applications, request, { limit: budget.limit, grant });
      const { listed, toWrite } = admission;
      unlisted = admission.unlisted;
      const missing = await addCounts(tx, replaceUnlistedNames(counts, listed), request.caller, request.now);
      const isPublic = isFrontendTokenCaller(request.caller);
      await tx.applications.recordSeen(toWrite, isPublic ? [] : missing, request.now, (announced) =>
        announced.map((application) => announceApplication(application, toWrite, request.now.toISOString())),
      );
      return reply;
    });
    for (const reason of ['limit', 'rate'] as const) {
      if (unlisted[reason] > 0) budget.onUnlisted(reason, unlisted[reason]);
    }
    return reply;
  };
