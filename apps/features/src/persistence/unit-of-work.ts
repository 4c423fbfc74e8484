import type { Caller } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { ReplyOrReplay, WriteContext, Outbox, OutboxProducer } from '@bunting/outbox';
import type { DomainEvent } from '../domain/feature.ts';
import { type ApplicationRepository, applicationRepository } from './usage/application-repository.ts';
import { catalogue, type Catalogue } from './catalogue/bulk-inserts.ts';
import { type ChangeApplication, changeApplication } from './changes/applied-changes.ts';
import { type ImportTargetRepository, importTargetRepository } from './import-export/import-target.ts';
import { favoriteRepository } from './features/favorite-repository.ts';
import { type FeatureRepository, featureRepository } from './features/feature-repository.ts';
import { type Neighbourhood, neighbourhood } from './features/neighbourhood.ts';
import {
  type Guard,
  guardFor,
  noGuard,
  type ProtectionRepository,
  protectionRepository,
} from './changes/protection.ts';
import { type ProjectRepository, projectRepository } from './projects/project-repository.ts';
import { holdReferences } from './features/feature-references.ts';
import { type SegmentRepository, segmentRepository } from './segments/segment-repository.ts';
import { type HousekeepingRepository, housekeepingRepository } from './housekeeping.ts';
import { type UsageRepository, usageRepository } from './usage/usage-repository.ts';
import { contextFieldRepository } from './catalogue/context-fields.ts';
import { type ImportProposals, importProposals } from './import-export/import-proposals.ts';
import { type ExportFeatures, exportFeatures } from './import-export/exports.ts';
import { type ProjectSettings, projectSettings } from './projects/project-settings.ts';
import { type EnvironmentRepository, environmentRepository } from './environments/environment-repository.ts';
import { strategyTypeRepository } from './catalogue/strategy-types.ts';
import { featureTypeRepository } from './catalogue/feature-types.ts';
import { type StoredSegments, storedSegments } from './segments/stored-segments.ts';
import { judge } from './entity-tags.ts';
import { tagCatalogue } from './catalogue/tags.ts';

/** Who has the work done, and when: it goes with everything that is told. */
export interface Occasion {
  readonly caller: Caller;
  readonly now: Date;
  /** what is not committed by then never is */
  readonly deadline: Date;
  /** aborted when the caller can no longer be given the reply */
  readonly signal?: AbortSignal | undefined;
  readonly traceparent: string;
  /** it was agreed on in a change request: protected environments are no obstacle */
  readonly isAgreed?: true;
}

/** What a job works with. All that it stores and tells is committed together, or nothing is. */
export interface Work {
  readonly features: FeatureRepository;
  readonly projects: ProjectRepository;
  readonly segments: SegmentRepository;
  readonly catalogue: Catalogue;
  readonly destinations: ImportTargetRepository;
  readonly application: ChangeApplication;
  readonly protection: ProtectionRepository;
  readonly guard: Guard;
  readonly neighbourhood: Neighbourhood;
  readonly tags: ReturnType<typeof tagCatalogue>;
  readonly featureTypes: ReturnType<typeof featureTypeRepository>;
  readonly strategyTypes: ReturnType<typeof strategyTypeRepository>;
  readonly environments: EnvironmentRepository;
  readonly projectSettings: ProjectSettings;
  readonly exporting: ExportFeatures;
  readonly importProposals: ImportProposals;
  readonly contextFields: ReturnType<typeof contextFieldRepository>;
  readonly storedSegments: StoredSegments;
  readonly favorites: ReturnType<typeof favoriteRepository>;
  readonly usage: UsageRepository;
  readonly applications: ApplicationRepository;
  readonly upkeep: HousekeepingRepository;
  readonly events: { readonly record: (events: readonly DomainEvent[]) => void };
}

/** What the job gives must be the reply, where somebody asked: who asks again with the same `Idempotency-Key` is given its text. */
export interface UnitOfWork {
  <T>(occasion: Occasion & WriteContext, job: (work: Work) => Promise<T>): Promise<ReplyOrReplay<T>>;
  <T>(occasion: Occasion, job: (work: Work) => Promise<T>): Promise<T>;
  /** Work whose reply takes asking another service after the commit. */
  thenReply<T extends object, R>(
    occasion: Occasion & WriteContext,
    job: (work: Work) => Promise<T>,
    reply: (done: T) => Promise<R>,
  ): Promise<ReplyOrReplay<R>>;
}

/** The only door to writing. A job may be done again after a deadlock: it does nothing outside its work. */
export const unitOfWork = ({
  work,
  commitThenReply: workThen,
}: Pick<OutboxProducer, 'work' | 'commitThenReply'>): UnitOfWork => {
  const doing =
    <T>(occasion: Occasion | (Occasion & WriteContext), job: (work: Work) => Promise<T>) =>
    async (tx: Tx, outbox: Outbox): Promise<T> => {
      const { caller, now, isAgreed } = occasion;
      const protection = protectionRepository(tx);
      const guard = isAgreed ? noGuard : guardFor(caller, protection);
      const hidden = caller.hiddenProjects ?? [];
      const recorded: DomainEvent[] = [];
      const told = { createdAt: now.toISOString(), createdBy: caller.name, createdByUserId: caller.id };
      // Told when all is done: only then is it known what the edits were let past.
      const tell = (events: readonly DomainEvent[]): void => {
        for (const event of events) {
          const { type, project, environment, featureName, data, preData, tags } = guard.told(event);
          outbox.event({
            ...told,
            type,
            project: project ?? null,
            environment: environment ?? null,
            featureName: featureName ?? null,
            data: data ?? null,
            preData: preData ?? null,
            tags: [...(tags ?? [])],
          });
        }
      };
      const features = featureRepository(tx, outbox, guard, holdReferences(tx), hidden);
      const environments = environmentRepository(tx);
      const segments = storedSegments(tx, changeApplication(tx, outbox));
      const result = await job({
        features,
        projects: projectRepository(tx, outbox),
        segments: segmentRepository(tx, outbox),
        catalogue: catalogue(tx),
        destinations: importTargetRepository(tx, hidden),
        application: changeApplication(tx, outbox),
        protection,
        guard,
        neighbourhood: neighbourhood(tx, hidden),
        tags: tagCatalogue(tx),
        featureTypes: featureTypeRepository(tx),
        strategyTypes: strategyTypeRepository(tx),
        environments,
        projectSettings: projectSettings(tx, outbox),
        exporting: exportFeatures(tx),
        importProposals: importProposals(tx),
        contextFields: contextFieldRepository(tx),
        storedSegments: segments,
        favorites: favoriteRepository(tx),
        usage: usageRepository(tx, outbox),
        applications: applicationRepository(tx),
        upkeep: housekeepingRepository(tx, outbox),
        events: {
          record: (events) => {
            for (const event of events) recorded.push(event);
          },
        },
      });
      tell(recorded);
      if ('conditional' in occasion)
        judge(occasion, { features: features.seen, environments: environments.seen, segments: segments.seen });
      return result;
    };
  const working = <T>(occasion: Occasion | (Occasion & WriteContext), job: (work: Work) => Promise<T>): Promise<T> =>
    'idempotency' in occasion
      ? (work(occasion, doing(occasion, job)) as Promise<T>)
      : work(occasion.traceparent, doing(occasion, job), occasion);
  return Object.assign(working, {
    thenReply: async <T extends object, R>(
      occasion: Occasion & WriteContext,
      job: (work: Work) => Promise<T>,
      reply: (done: T) => Promise<R>,
    ): Promise<ReplyOrReplay<R>> => {
      const answer = await workThen(occasion, doing(occasion, job), reply);
      if (answer === undefined) throw new Error('A job that is done has a reply.');
      return answer;
    },
  });
};
