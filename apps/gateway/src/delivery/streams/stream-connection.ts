import type { DeliveryScope } from '@bunting/contracts';
import type { ServerResponse } from 'node:http';
import type { DeliveryView } from '../view/delivery-view.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ServerSentEvent } from '../../streaming/server-sent-event.ts';

/** The events of a stream, and the conditions under which it stays open. */
export interface StreamOptions {
  /** the label of its metrics */
  readonly kind: 'sdk' | 'ofrep';
  readonly scope: DeliveryScope;
  /** the event that the stream begins with; the client has everything up to its id */
  readonly first: ServerSentEvent;
  /** written after the first event, as it is */
  readonly preamble?: string;
  /** The event for a client that has everything up to a revision; undefined where there is nothing newer. */
  readonly changesAfter: (view: DeliveryView, revision: number) => ServerSentEvent | undefined;
  readonly credential: StreamCredential;
  /** Whether the stream may continue after the rights of its credential have changed. */
  readonly mayContinue: (principal: Principal) => boolean;
}

/** The token of a stream, which is reauthenticated while the stream is open. */
export interface StreamCredential {
  /** streams with one key share their checks */
  readonly key: string;
  /** @throws Refusal `AuthenticationRequired` once the token is not valid any more */
  readonly authenticate: () => Principal | Promise<Principal>;
}

/** Who or what has ended a stream: the label of its metric. */
type Ending = 'client' | 'token' | 'environment' | 'lifetime' | 'drain' | 'unread';

/** The streams of one scope, for which changes are computed once. */
export interface Channel {
  readonly key: string;
  readonly scope: DeliveryScope;
  readonly connections: Set<StreamConnection>;
}

/** The state of one stream: its connection and its revision. While the client does not read, changes are not computed until it resumes. */
export interface StreamConnection {
  readonly raw: ServerResponse;
  readonly options: StreamOptions;
  readonly channel: Channel;
  readonly clientKey: string;
  /** the second of the keep-alive interval in which its comment is sent */
  readonly slot: number;
  /** milliseconds of `performance.now()` */
  readonly endsAt: number;
  /** the position up to which everything was sent to the client, or is being sent */
  revision: number;
  /** the epoch of the store in which the revision counts */
  epoch: number;
  /** whether the client has not read what was written last */
  isBlocked: boolean;
  ending: Ending | undefined;
}

/** Whether the stream is open, and its client has read what was written last. */
export const isWritable = ({ raw, ending, isBlocked }: StreamConnection): boolean =>
  !isBlocked && ending === undefined && !raw.destroyed && !raw.writableEnded;

export const endStream = (connection: StreamConnection, reason: Ending): void => {
  if (connection.ending !== undefined) return;
  connection.ending = reason;
  connection.raw.end();
};
