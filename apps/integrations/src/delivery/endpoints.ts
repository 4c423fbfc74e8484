import { type Endpoint, implement, JsonText, systemContext, writes } from '@bunting/bus';
import {
  authorise,
  type Event,
  FindEventLogPosition,
  GetDeliveryStatus,
  invalid,
  ListIntegrationEvents,
  maskedParameter,
  ReadEventLog,
  RedeliverEvent,
  refusal,
  ReplayEvents,
  rootScope,
  TestAddon,
  type TestResult,
} from '@bunting/contracts';
import { endOfLog, getVisible } from '../addons/endpoints.ts';
import { allEvents, type Target } from '../addons/addon.ts';
import { addonNotFound } from '../addons/addon-store.ts';
import { batchingOf } from '../messages/batch.ts';
import { call } from '../calls.ts';
import type { IntegrationsContext } from '../endpoints.ts';
import type { messageSender } from './attempt.ts';
import { flagOf } from './retry.ts';

export type TestSender = ReturnType<typeof messageSender>['event'];

const callTimeoutMs = 5_000;
const defaultLimit = 50;
const maxLimit = 100;

function pageOf({ limit, offset }: { readonly limit?: string; readonly offset?: string }) {
  const [wanted, skipped] = [Number(limit), Number(offset)];
  return {
    limit: Number.isInteger(wanted) && wanted >= 1 && wanted <= maxLimit ? wanted : defaultLimit,
    offset: Number.isSafeInteger(skipped) && skipped > 0 ? skipped : 0,
  };
}

export function deliveryEndpoints(context: IntegrationsContext): readonly Endpoint[] {
  const { bus, reader, deliveries, transaction, sendTest, mailHour, wake } = context;
  return [
    implement(ListIntegrationEvents, async ({ params, query, caller }) => {
      const {
        addon: { id },
      } = await getVisible(reader, params.id, caller);
      const { limit, offset } = pageOf(query);
      return new JsonText(await deliveries.attempts(id, limit, offset));
    }),

    implement(GetDeliveryStatus, async ({ params, caller }) => {
      const {
        addon: { id },
      } = await getVisible(reader, params.id, caller);
      const [status, { position: head }] = await Promise.all([deliveries.status(id), endOfLog(bus)]);
      return { ...status, head: Math.max(head, status.position) };
    }),

    writes(RedeliverEvent, transaction, async (tx, { params, caller }) => {
      authorise(caller, RedeliverEvent.permission, rootScope);
      const locked = await tx.integrations.lock(params.id);
      if (locked === undefined) throw addonNotFound(params.id);
      if (batchingOf({ provider: locked.addon.provider, parameters: locked.parameters() }, mailHour) !== undefined)
        throw refusal(
          'OperationDeniedError',
          'This integration sends events together. To send some again, replay from the event before them.',
        );
      await tx.deliveries.redeliver(params.id, params.eventId, (event) => flagOf(event as Event));
      wake();
      return null;
    }),

    implement(ReplayEvents, async (request) => {
      const { params, body, caller } = request;
      authorise(caller, ReplayEvents.permission, rootScope);
      await getVisible(reader, params.id, caller);
      if ((body.after === undefined) === (body.since === undefined))
        throw invalid('The `/body/after` or the `/body/since` property is required, and not both.', '/body');
      const callContext = systemContext(callTimeoutMs);
      const after =
        body.since === undefined
          ? (body.after ?? 0)
          : (await call(bus, FindEventLogPosition, { body: { since: body.since } }, callContext)).after;
      const { at, head } = await call(bus, ReadEventLog, { body: { after, limit: 0 } }, callContext);
      if (after > head)
        throw invalid(
          `The \`/body/after\` property must be at most ${head}, the id of the newest event.`,
          '/body/after',
        );
      const reply = await transaction(request, async (tx) => {
        if ((await tx.integrations.lock(params.id)) === undefined) throw addonNotFound(params.id);
        await tx.deliveries.replayFrom(params.id, { position: after, hash: at });
        return { after };
      });
      wake();
      return reply;
    }),

    implement(TestAddon, async ({ params, caller, now, requestId }) => {
      const {
        addon: { id },
      } = await getVisible(reader, params.id, caller);
      const target = await reader.findTarget(id);
      if (target === undefined) throw addonNotFound(id);
      const event = testEvent(target, caller.name, now);
      const [sent] = await sendTest(target, { uid: `test_${requestId}`, event }).catch((error: unknown) => {
        throw invalid((error as Error).message, '/params/id');
      });
      if (sent === undefined) throw invalid('There is no channel for the event.', '/params/id');
      const { message, response, fault } = sent;
      const { protocol, host } = new URL(message.url);
      const shownUrl = host === '' ? `${protocol}…` : `${protocol}//${host}/…`;
      const status = response?.status;
      const result: TestResult = {
        request: {
          method: protocols[target.provider] ?? message.method ?? 'POST',
          url: shownUrl,
          headers: maskedHeaders(message.headers),
          body: message.body,
        },
        response: response === undefined || status == null ? null : { status, body: shortBody(response.body) },
        error: fault ?? response?.shortfall ?? null,
      };
      return result;
    }),
  ];
}

/** By provider: what is not HTTP. */
const protocols: Readonly<Record<string, string>> = { syslog: 'SYSLOG', email: 'SMTP' };

const maxShownBody = 4_000;

function shortBody(body: string): string {
  return body.slice(0, maxShownBody).toWellFormed();
}

/** Headers that Bunting sets itself and that are no secrets. */
const shownHeaders = [
  'subject',
  'message-id',
  'content-md5',
  'x-amz-content-sha256',
  'x-amz-date',
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
];

function maskedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, shownHeaders.includes(name) ? value : maskedParameter]),
  );
}

/** An event about nothing that exists, of a type and a project that the integration selects. */
function testEvent({ events, projects, environments }: Target, createdBy: string, now: Date): Event {
  const type = (events.find((one) => one !== allEvents) ?? 'feature-created') as Event['type'];
  const named = (names: readonly string[], otherwise: string) =>
    names[0] === undefined || names[0] === '*' ? otherwise : names[0];
  return {
    id: 1,
    createdAt: now.toISOString(),
    type,
    createdBy,
    createdByUserId: null,
    environment: named(environments, 'development'),
    project: named(projects, 'default'),
    featureName: 'test-event',
    data: { name: 'test-event' },
    preData: null,
    tags: [],
    label: 'Test event',
    summary: `**${createdBy.replaceAll(/[\\*_[\]<>]/g, '')}** sent a test event from Bunting`,
  };
}
