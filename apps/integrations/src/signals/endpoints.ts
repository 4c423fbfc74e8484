import { type Endpoint, implement, reads, writes } from '@bunting/bus';
import {
  CreateSignalEndpoint,
  CreateSignalEndpointToken,
  DeleteSignalEndpoint,
  DeleteSignalEndpointToken,
  DisableSignalEndpoint,
  EnableSignalEndpoint,
  limitExceeded,
  ListSignalEndpoints,
  ListSignalEndpointTokens,
  ListSignals,
  maxSignalBytes,
  ReceiveSignal,
  refusal,
  type SignalEndpointBody,
  UpdateSignalEndpoint,
  UpdateSignalEndpointToken,
} from '@bunting/contracts';
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IntegrationsContext } from '../endpoints.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import type { KnownToken } from './signal-store.ts';

const tokenBytes = 32;

/** A secret has 256 random bits, so that its hash needs neither salt nor repetition. */
function hashOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** The token whose secret a request carries. Every token is compared in full. */
function tokenWith(secret: string, tokens: readonly KnownToken[]): KnownToken | undefined {
  const hashed = hashOf(secret);
  return tokens.filter((token) => timingSafeEqual(token.hash, hashed))[0];
}

function propertiesOf({ name, description = '', enabled }: SignalEndpointBody) {
  return { name, description, enabled };
}

export function signalEndpoints(context: IntegrationsContext): readonly Endpoint[] {
  const { transaction, signals, signalLimits, wakeActions } = context;

  const switchTo =
    (enabled: boolean) =>
    async (tx: Transaction, { params }: { readonly params: { readonly id: number } }): Promise<null> => {
      const before = await tx.signals.lock(params.id);
      if (before.enabled !== enabled) await tx.signals.save(before, { ...before, enabled });
      return null;
    };

  return [
    implement(ListSignalEndpoints, async () => ({ signalEndpoints: await signals.endpoints() })),
    writes(CreateSignalEndpoint, transaction, async (tx, { body, caller }) => {
      if ((await tx.signals.count()) >= signalLimits.endpoints)
        throw limitExceeded('signal endpoint', signalLimits.endpoints);
      return tx.signals.add(propertiesOf(body), caller.id);
    }),
    writes(UpdateSignalEndpoint, transaction, async (tx, { params, body }) =>
      tx.signals.save(await tx.signals.lock(params.id), propertiesOf(body)),
    ),
    writes(EnableSignalEndpoint, transaction, switchTo(true)),
    writes(DisableSignalEndpoint, transaction, switchTo(false)),
    writes(DeleteSignalEndpoint, transaction, async (tx, { params }) => {
      await tx.signals.remove(await tx.signals.lock(params.id));
      return null;
    }),

    implement(ListSignalEndpointTokens, async ({ params }) => ({
      signalEndpointTokens: await signals.tokens(params.signalEndpointId),
    })),
    writes(CreateSignalEndpointToken, transaction, async (tx, { params, body, caller }) => {
      const { id } = await tx.signals.lock(params.signalEndpointId);
      if ((await tx.signals.countTokens(id)) >= signalLimits.tokens) throw limitExceeded('token', signalLimits.tokens);
      const secret = `signal:${randomBytes(tokenBytes).toString('hex')}`;
      return { ...(await tx.signals.addToken(id, body.name, hashOf(secret), caller.id)), token: secret };
    }),
    writes(UpdateSignalEndpointToken, transaction, (tx, { params, body }) =>
      tx.signals.renameToken(params.signalEndpointId, params.id, body.name),
    ),
    writes(DeleteSignalEndpointToken, transaction, async (tx, { params }) => {
      await tx.signals.removeToken(params.signalEndpointId, params.id);
      return null;
    }),

    reads(ListSignals, ({ params, query: { limit = 50, offset = 0 } }) =>
      signals.signals(params.signalEndpointId, limit, offset),
    ),
    implement(ReceiveSignal, async (request) => {
      const { params, query, body } = request;
      const secret = /^Bearer +(\S{1,200})$/i.exec(query.authorization ?? '')?.[1] ?? '';
      const token = tokenWith(secret, await signals.knownTokens(params.name));
      if (token === undefined)
        throw refusal('AuthenticationRequired', 'The signal endpoint does not exist, or has no such token.');
      const payload = JSON.stringify(body);
      if (Buffer.byteLength(payload) > maxSignalBytes)
        throw refusal('PayloadTooLarge', `A signal has at most ${maxSignalBytes} bytes.`);
      await transaction(request, (tx) => tx.signals.receive({ token, payload, perMinute: signalLimits.perMinute }));
      wakeActions();
      return null;
    }),
  ];
}
