import { type Caller, maySee } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import {
  type Outbox,
  type OutboxProducer,
  recordEvents,
  type RecordEvents,
  type ReplyOrReplay,
  type WriteContext,
} from '@bunting/outbox';
import { applicationRepository } from '../applications/application-store.ts';
import { attemptResultRepository, changeContextReader } from '../changes/change-store.ts';
import { contextFieldRepository } from '../context-fields/context-field-store.ts';
import { deferredEditRepository } from '../deferred-edits/deferred-edit-store.ts';
import { environmentRepository } from '../environments/environment-store.ts';
import { featureFavoriteRepository } from '../favorites/favorite-store.ts';
import { featureRepository } from '../features/feature-store.ts';
import { featureTypeRepository } from '../features/feature-type-store.ts';
import type { DomainEvent } from '../features/feature.ts';
import { housekeepingRepository } from '../housekeeping/housekeeping-store.ts';
import {
  importDestinationReader,
  importProposalRepository,
  readFeatureExport,
} from '../import-export/import-export-store.ts';
import { type ConstraintSettings, projectContextReader } from '../projects/project-context-store.ts';
import { projectRepository } from '../projects/project-store.ts';
import { segmentListRepository } from '../segment-lists/segment-list-store.ts';
import { segmentRepository } from '../segments/segment-store.ts';
import { strategyTypeRepository } from '../strategy-types/strategy-type-store.ts';
import { tagRepository } from '../tags/tag-store.ts';
import { edgeInstanceRepository, usageRepository } from '../usage/usage-store.ts';
import { groupCommit } from './group-commit.ts';
import { checkIfMatchAndSetETag } from './if-match.ts';
import { lockReferences } from './lock-references.ts';
import { type Editor, protectionCopyRepository, type ProtectionGuard, protectionGuard } from './protection.ts';

/** The caller and the time of a change, and its deadline. */
export interface TransactionContext {
  readonly caller: Caller;
  readonly now: Date;
  /** the transaction is not committed after this time */
  readonly deadline: Date;
  /** aborted when the caller can no longer receive the reply */
  readonly signal?: AbortSignal | undefined;
  readonly traceparent: string;
  /** the change request that is applied; the caller edits directly without one */
  readonly changeRequest?: Extract<Editor, { kind: 'change request' }>;
}

/** What a transaction leaves to the background. */
export interface Deferred {
  /** states to be emitted, or settings to be removed */
  readonly hasRows: boolean;
  /** edits of features: the request waits for them for a while, since it answers that they are made */
  readonly hasEdits: boolean;
}

interface RepositoryOptions {
  readonly caller: Caller;
  readonly guard: ProtectionGuard;
  readonly settings: ConstraintSettings;
  readonly recordEvents: RecordEvents;
  readonly onDeferred: (what: keyof Deferred) => void;
}

/**
 * Repositories on one transaction. All that they store and emit is committed, or nothing. A write whose change has events takes them as
 * its last parameter, or as a function of what it has stored, and records them.
 */
function repositories(
  tx: Tx,
  outbox: Outbox,
  { caller, guard, settings, recordEvents, onDeferred }: RepositoryOptions,
) {
  const hidden = caller.hiddenProjects ?? [];
  const isProjectVisible = (project: string): boolean => maySee(caller, project);
  return {
    attemptResults: attemptResultRepository(tx),
    applications: applicationRepository(tx, recordEvents),
    contextFields: contextFieldRepository(tx, recordEvents),
    deferredEdits: deferredEditRepository(tx, caller, () => onDeferred('hasEdits')),
    edgeInstances: edgeInstanceRepository(tx),
    environments: environmentRepository(tx, outbox, recordEvents),
    readFeatureExport: readFeatureExport(tx),
    featureFavorites: featureFavoriteRepository(tx, recordEvents),
    features: featureRepository(tx, outbox, {
      guard,
      lockReferences: lockReferences(tx),
      hidden,
      isProjectVisible,
      settings,
      recordEvents,
      onDeferred: () => onDeferred('hasRows'),
    }),
    featureTypes: featureTypeRepository(tx, recordEvents),
    housekeeping: housekeepingRepository(tx, outbox, recordEvents),
    importProposals: importProposalRepository(tx),
    importDestinations: importDestinationReader(tx, hidden, settings),
    projectContext: projectContextReader(tx, hidden, settings),
    projects: projectRepository(tx, outbox, { guard, recordEvents }),
    protectionCopy: protectionCopyRepository(tx),
    readChangeContext: changeContextReader({ read: ({ text }, values) => tx.query(text, values) }, settings),
    segments: segmentRepository(tx, outbox, { guard, isProjectVisible, recordEvents }),
    segmentLists: segmentListRepository(tx, { guard, isProjectVisible }),
    strategyTypes: strategyTypeRepository(tx, recordEvents),
    tags: tagRepository(tx, recordEvents),
    usage: usageRepository(tx, outbox),
  };
}

/** The repositories and the event recorder of a transaction. */
export interface Transaction extends ReturnType<typeof repositories> {
  /** For clones and moves, which are refused before the rules decide or most features are edited. Other edits are refused when they are stored. */
  readonly guard: Pick<ProtectionGuard, 'checkClone' | 'checkMove' | 'checkSettings'>;
  /** For facts that store no change, such as an export: writes record the events of their changes themselves. */
  readonly recordEvents: RecordEvents;
}

type Job<T> = (tx: Transaction) => Promise<T>;

/**
 * Runs jobs in transactions. The result of a job must be the reply of its request: it is stored for retries with the same
 * `Idempotency-Key`.
 */
export interface UnitOfWork {
  <T>(context: TransactionContext & WriteContext, job: Job<T>): Promise<ReplyOrReplay<T>>;
  <T>(context: TransactionContext, job: Job<T>): Promise<T>;
  /** Like a call, for a job that locks one feature before all else, and edits it: it may share the transaction with others that wait. */
  edit<T>(context: TransactionContext & WriteContext, job: Job<T>): Promise<ReplyOrReplay<T>>;
  /** Makes the reply after the commit, from the result of the job: for replies that need calls to other services. */
  commitThenReply<T extends object, R>(
    context: TransactionContext & WriteContext,
    job: Job<T>,
    reply: (result: T) => Promise<R>,
  ): Promise<ReplyOrReplay<R>>;
}

/**
 * The only way to write. A job is retried after a deadlock or a serialization failure, so it must not have effects outside its
 * transaction.
 * @param runDeferred called after a commit that has left something to the background; the reply waits for what it returns
 */
export function unitOfWork(
  { work, commitThenReply }: Pick<OutboxProducer, 'work' | 'commitThenReply'>,
  settings: ConstraintSettings,
  runDeferred: (deferred: Deferred) => Promise<void>,
): UnitOfWork {
  const runJob =
    <T>(
      context: TransactionContext | (TransactionContext & WriteContext),
      job: Job<T>,
      onDeferred: (what: keyof Deferred) => void = () => undefined,
    ) =>
    async (tx: Tx, outbox: Outbox): Promise<T> => {
      const { caller, changeRequest } = context;
      const guard = protectionGuard(changeRequest ?? { kind: 'caller', caller }, protectionCopyRepository(tx));
      const recorded: DomainEvent[] = [];
      const record: RecordEvents<DomainEvent> = (events) => {
        for (const event of events) recorded.push(event);
      };
      const stores = repositories(tx, outbox, { caller, guard, settings, recordEvents: record, onDeferred });
      const result = await job({ ...stores, guard, recordEvents: record });
      // Events are emitted last: the guard detects bypassed change requests by all edits of the job.
      recordEvents(outbox, context)(recorded.map((event) => guard.markBypass(event)));
      if ('ifMatchTarget' in context) {
        const { features, environments, segments } = stores;
        checkIfMatchAndSetETag(context, {
          features: features.locked,
          environments: environments.locked,
          segments: segments.locked,
        });
      }
      return result;
    };
  const deferral = () => {
    const deferred = { hasRows: false, hasEdits: false };
    return {
      onDeferred: (what: keyof Deferred) => {
        deferred[what] = true;
      },
      onCommit: async () => {
        if (deferred.hasRows || deferred.hasEdits) await runDeferred(deferred);
      },
    };
  };
  const run = async <C extends TransactionContext | (TransactionContext & WriteContext), T>(
    context: C,
    job: Job<T>,
  ) => {
    const { onDeferred, onCommit } = deferral();
    const result = await work(context, runJob(context, job, onDeferred));
    await onCommit();
    return result;
  };
  // The last statement of an edit saves the feature that it has locked.
  const commitEdit = groupCommit((limits, job) => work({ ...limits, takesPositions: true }, job));
  return Object.assign(run, {
    edit: <T>(context: TransactionContext & WriteContext, job: Job<T>): Promise<ReplyOrReplay<T>> => {
      // The stored reply is in the transaction of its edit.
      if (context.idempotency !== undefined) return run(context, job);
      const { traceparent, deadline, signal } = context;
      return commitEdit({ traceparent, deadline, signal, run: runJob(context, job) });
    },
    commitThenReply: async <T extends object, R>(
      context: TransactionContext & WriteContext,
      job: Job<T>,
      reply: (result: T) => Promise<R>,
    ): Promise<ReplyOrReplay<R>> => {
      const { onDeferred, onCommit } = deferral();
      const response = await commitThenReply(context, runJob(context, job, onDeferred), async (result) => {
        await onCommit();
        return await reply(result);
      });
      if (response === undefined) throw new Error('A job of the features service returned no result to reply with.');
      return response;
    },
  });
}

/**
 * Thrown where an object that a decision relied on was changed concurrently, also if PostgreSQL reported that as a violated unique or
 * foreign key. It has the code of PostgreSQL's own serialization failures, so that the transaction is retried, as after a deadlock.
 */
export class SerializationFailure extends Error {
  /** SQLSTATE `serialization_failure` */
  readonly code = '40001';
}
