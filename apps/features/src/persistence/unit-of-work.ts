import { type Caller, unavailable } from '@bunting/contracts';
import type { Telling } from '@bunting/outbox';
import type { DomainEvent } from '../domain/feature.ts';
import { catalogue, type Catalogue } from './catalogue.ts';
import { type ChangeApplication, changeApplication } from './change-application.ts';
import { type DestinationRepository, destinationRepository } from './destination-repository.ts';
import { type FeatureRepository, featureRepository } from './feature-repository.ts';
import { type ProjectRepository, projectRepository } from './project-repository.ts';
import { type SegmentRepository, segmentRepository } from './segment-repository.ts';

/** Who has the work done, and when: it goes with everything that is told. */
export interface Occasion {
  readonly caller: Caller;
  readonly now: Date;
  /** when nobody waits for it any more: what was not done by then is not done at all */
  readonly deadline: Date;
  readonly traceparent: string;
}

/** What a job works with. All that it stores and tells is committed together, or nothing is. */
export interface Work {
  readonly features: FeatureRepository;
  readonly projects: ProjectRepository;
  readonly segments: SegmentRepository;
  readonly catalogue: Catalogue;
  readonly destinations: DestinationRepository;
  readonly application: ChangeApplication;
  readonly events: { readonly record: (events: readonly DomainEvent[]) => void };
}

export type UnitOfWork = <T>(occasion: Occasion, job: (work: Work) => Promise<T>) => Promise<T>;

/** The only door to writing. A job may be done again after a deadlock: it does nothing outside its work. */
export const unitOfWork =
  ({ work }: Pick<Telling, 'work'>): UnitOfWork =>
  ({ caller, now, deadline, traceparent }, job) =>
    work(traceparent, async (tx, outbox) => {
      const told = { createdAt: now.toISOString(), createdBy: caller.name, createdByUserId: caller.id };
      const record = (events: readonly DomainEvent[]): void => {
        for (const { type, project, environment, featureName, data, preData, tags } of events) {
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
      const result = await job({
        features: featureRepository(tx, outbox),
        projects: projectRepository(tx),
        segments: segmentRepository(tx, outbox),
        catalogue: catalogue(tx),
        destinations: destinationRepository(tx),
        application: changeApplication(tx, outbox),
        events: { record },
      });
      if (Date.now() >= deadline.getTime()) throw unavailable('There was no time left. Nothing was changed.');
      return result;
    });
