import type { Caller } from '@bunting/contracts';
import {
  type OutboxProducer,
  recordEvents,
  type ReplyOrReplay,
  type WorkContext,
  type WriteContext,
} from '@bunting/outbox';
import { type ActionRepository, actionRepository } from '../actions/action-store.ts';
import { type IntegrationRepository, integrationRepository } from '../addons/addon-store.ts';
import { type DeliveryRepository, deliveryRepository } from '../delivery/delivery-store.ts';
import { type InboxRepository, inboxRepository } from '../inbox/inbox-store.ts';
import { type SignalRepository, signalRepository } from '../signals/signal-store.ts';
import { type SlackRepository, slackRepository } from '../slack/slack-store.ts';
import type { SecretCipher } from './secrets.ts';

/** Stores on one transaction. All that they store and emit is committed, or nothing. */
export interface Transaction {
  readonly integrations: IntegrationRepository;
  readonly deliveries: DeliveryRepository;
  readonly inbox: InboxRepository;
  readonly signals: SignalRepository;
  readonly actions: ActionRepository;
  readonly slack: SlackRepository;
}

/** Who caused a write, and when. */
interface Cause {
  readonly caller: Caller;
  readonly now: Date;
}

export interface UnitOfWork {
  /** Runs a job whose result is the reply; with an `Idempotency-Key` the reply is stored and replayed on retry. */
  <T>(request: WriteContext & Cause, job: (tx: Transaction) => Promise<T>): Promise<ReplyOrReplay<T>>;
  <T>(context: WorkContext & Cause, job: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** The only way in which operations and background jobs write what users configure. */
export function unitOfWork({ work }: OutboxProducer, cipher: SecretCipher): UnitOfWork {
  return <T>(context: (WriteContext | WorkContext) & Cause, job: (tx: Transaction) => Promise<T>) =>
    work(context, (tx, outbox) => {
      const record = recordEvents(outbox, context);
      return job({
        integrations: integrationRepository(tx, record, cipher),
        deliveries: deliveryRepository(tx),
        inbox: inboxRepository(tx),
        signals: signalRepository(tx, record),
        actions: actionRepository(tx, record),
        slack: slackRepository(tx),
      });
    }) as Promise<T>;
}
