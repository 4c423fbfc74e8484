import { type Caller, systemCaller } from '@bunting/contracts';
import type { LifecycleStage } from '../../domain/feature.ts';
import {
  type Count,
  mayReportOn,
  type ReportedFeature,
  type SeenApplication,
  stagesToEnter,
} from '../../domain/usage.ts';
import type { Occasion, UnitOfWork, Work } from '../../persistence/unit-of-work.ts';

/** What is reported at once. */
export interface Report {
  readonly counts: readonly Count[];
  readonly applications: readonly SeenApplication[];
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];

const environmentsByFeature = (counts: readonly Count[]): Map<string, Set<string>> => {
  const found = new Map<string, Set<string>>();
  for (const { feature, environment } of counts) {
    const environments = found.get(feature);
    if (environments === undefined) found.set(feature, new Set([environment]));
    else environments.add(environment);
  }
  return found;
};

/** Adds up what was counted of features that there are and that are the reporter's, and moves them on in their lives. */
const addCounts = async ({ usage }: Work, given: readonly Count[], reporter: Caller, now: Date): Promise<void> => {
  if (given.length === 0) return;
  const types = await usage.environmentTypes();
  const counted = given.filter(({ environment }) => types.has(environment));
  const environments = unique(counted.map(({ environment }) => environment));
  const names = unique(counted.map(({ feature }) => feature));
  const found = (await usage.reported(names, environments)).filter(({ project }) => mayReportOn(reporter, project));
  const known = new Set(found.map(({ name }) => name));
  const counts = counted.filter(({ feature }) => known.has(feature));
  if (counts.length === 0) return;

  const reportedIn = environmentsByFeature(counts);
  const stagesOf = (feature: ReportedFeature): LifecycleStage[] =>
    stagesToEnter(feature, [...(reportedIn.get(feature.name) ?? [])], types, now.toISOString());
  const moving = found.filter((feature) => stagesOf(feature).length > 0).map(({ name }) => name);
  // Decided again under the lock: another report may have moved them meanwhile.
  const locked = moving.length === 0 ? [] : await usage.reportedForUpdate(moving, environments);

  const due = await usage.addLately(counts, now);
  await usage.addByHour(counts, now);
  const moves = new Map(locked.map((feature) => [feature.name, stagesOf(feature)]));
  const told = unique([...due, ...moves.keys()]).map((name) => ({ name, stages: moves.get(name) ?? [] }));
  await usage.tell(told);
};

/**
 * Keeps a report before it is answered for. States of features are told at once when they enter a stage of their life, and
 * about once a minute for figures alone. What is told of applications is told by the system, whoever reported them.
 */
export const keepReport = (work: UnitOfWork, asked: Occasion, { counts, applications }: Report): Promise<null> =>
  work({ ...asked, caller: systemCaller }, async (tx) => {
    await addCounts(tx, counts, asked.caller, asked.now);
    const created = await tx.usage.see(applications, asked.now);
    tx.events.record(created.map((data) => ({ type: 'application-created', data })));
    return null;
  });
