import type { Outbox, Telling } from '@bunting/outbox';
import { type ScheduleRepository, scheduleRepository } from './agenda.ts';
import { type ChangeRequestRepository, changeRequestRepository } from './change-request-repository.ts';

/** What a job works with: requests, and what there is to tell. Both are committed together, or neither. */
export interface Work {
  readonly requests: ChangeRequestRepository;
  readonly schedules: ScheduleRepository;
  readonly outbox: Outbox;
}

export type UnitOfWork = <T>(traceparent: string, job: (work: Work) => Promise<T>) => Promise<T>;

/** The only door to writing: state and events in one transaction. */
export const unitOfWork =
  ({ work }: Telling): UnitOfWork =>
  (traceparent, job) =>
    work(traceparent, (tx, outbox) =>
      job({ requests: changeRequestRepository(tx), schedules: scheduleRepository(tx), outbox }),
    );
