import { type Bus, type Endpoint, implement, reads, systemContext, writes } from '@bunting/bus';
import {
  authorise,
  type Caller,
  CreateAddon,
  DeleteAddon,
  GetAddon,
  invalid,
  limitExceeded,
  ListAddons,
  ReadEventLog,
  rootScope,
  takesReviews,
  UpdateAddon,
} from '@bunting/contracts';
import { call } from '../calls.ts';
import type { LogPosition } from '../delivery/log-position.ts';
import type { IntegrationsContext } from '../endpoints.ts';
import { integrationFrom, requireMayDirect, requireMayEdit, requireMayTakeReviews, visibleTo } from './addon.ts';
import { addonNotFound, type IntegrationReader, type TaggedAddon } from './addon-store.ts';
import { providers } from './providers.ts';

const callTimeoutMs = 5_000;

/** The end of the event log, after everything that was committed before the call. */
export async function endOfLog(bus: Bus): Promise<LogPosition> {
  const { head, headHash } = await call(
    bus,
    ReadEventLog,
    { body: { after: 0, limit: 0, waitsForCommits: true } },
    systemContext(callTimeoutMs),
  );
  return { position: head, hash: headHash };
}

/** The integration as the caller sees it. @throws Refusal `NotFoundError` if it does not exist, or is for hidden projects alone */
export async function getVisible(reader: IntegrationReader, id: number, caller: Caller): Promise<TaggedAddon> {
  const { addon: stored, tag } = await reader.get(id);
  const addon = visibleTo(caller, stored);
  if (addon === undefined) throw addonNotFound(id);
  return { addon, tag };
}

export function addonEndpoints(context: IntegrationsContext): readonly Endpoint[] {
  const { bus, reader, transaction, allowed, maxAddons, hasMailServer, publicUrl, wake } = context;
  /** @throws Refusal for reviews that the caller may not take, or that nobody could give */
  const requireReviewable = (caller: Caller, integration: Parameters<typeof requireMayTakeReviews>[1]): void => {
    requireMayTakeReviews(caller, integration);
    if (takesReviews(integration) && publicUrl === '')
      throw invalid(
        'Change requests cannot be reviewed in Slack: the address of the console is not set (INTEGRATIONS_PUBLIC_URL).',
        '/body/parameters/signingSecret',
      );
  };
  return [
    implement(ListAddons, async ({ caller }) => ({
      addons: (await reader.all()).flatMap((addon) => visibleTo(caller, addon) ?? []),
      providers: [...providers],
    })),

    reads(GetAddon, async ({ params, caller }) => {
      const { addon, tag } = await getVisible(reader, params.id, caller);
      return { json: JSON.stringify(addon), tag };
    }),

    implement(CreateAddon, async (request) => {
      const { body, caller } = request;
      authorise(caller, CreateAddon.permission, rootScope);
      const integration = integrationFrom(body, allowed);
      requireMayDirect(caller, integration);
      requireReviewable(caller, integration);
      if (integration.provider === 'email' && !hasMailServer)
        throw invalid('No mail can be sent: no mail server is set up (SMTP_URL).', '/body/provider');
      const end = await endOfLog(bus);
      return transaction(request, async (tx) => {
        if ((await tx.integrations.count()) >= maxAddons) throw limitExceeded('integration', maxAddons);
        const addon = await tx.integrations.add(integration, caller.id);
        await tx.deliveries.begin(addon.id, end);
        return addon;
      });
    }),

    implement(UpdateAddon, async (request) => {
      const { params, body, caller } = request;
      authorise(caller, UpdateAddon.permission, rootScope);
      // What happened while an integration was disabled is not delivered when it is enabled.
      const end =
        body.enabled && !(await getVisible(reader, params.id, caller)).addon.enabled ? await endOfLog(bus) : undefined;
      const reply = await transaction(request, async (tx) => {
        const locked = await tx.integrations.lock(params.id);
        if (locked === undefined || visibleTo(caller, locked.addon) === undefined) throw addonNotFound(params.id);
        requireMayEdit(caller, locked.addon);
        requireMayTakeReviews(caller, locked.addon);
        const isSameKind = locked.addon.provider === body.provider;
        const integration = integrationFrom(body, allowed, isSameKind ? locked.parameters : undefined);
        requireMayDirect(caller, integration);
        requireReviewable(caller, integration);
        request.requireIfMatch?.([locked.tag]);
        const { addon, tag } = await tx.integrations.save(locked.addon, integration, caller.id);
        request.setHeader('ETag', `"${tag}"`);
        if (end !== undefined && !locked.addon.enabled) await tx.deliveries.begin(addon.id, end);
        else await tx.deliveries.resume(addon.id);
        return addon;
      });
      wake();
      return reply;
    }),

    writes(DeleteAddon, transaction, async (tx, { params, caller }) => {
      authorise(caller, DeleteAddon.permission, rootScope);
      const locked = await tx.integrations.lock(params.id);
      if (locked !== undefined && visibleTo(caller, locked.addon) !== undefined)
        await tx.integrations.remove(locked.addon);
      return null;
    }),
  ];
}
