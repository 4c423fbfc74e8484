import {
  anonymousCaller,
  CreateSignalEndpoint,
  CreateSignalEndpointToken,
  DeleteSignalEndpoint,
  DeleteSignalEndpointToken,
  DisableSignalEndpoint,
  EnableSignalEndpoint,
  ListSignalEndpoints,
  ListSignals,
  maxSignalBytes,
  ReceiveSignal,
  UpdateSignalEndpointToken,
} from '@bunting/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startIntegrations, type StartedIntegrations } from '../../test/started-integrations.ts';

let service: StartedIntegrations;
beforeAll(async () => {
  service = await startIntegrations({ INTEGRATIONS_MAX_SIGNALS_PER_MINUTE: '6', INTEGRATIONS_MAX_SIGNAL_TOKENS: '2' });
});
afterAll(() => service.stop());
beforeEach(() => service.database.query({ text: 'delete from signal_endpoint' }));

const create = (name: string, enabled = true) => service.call(CreateSignalEndpoint, { body: { name, enabled } });
const createToken = (signalEndpointId: number, name = 'prod') =>
  service.call(CreateSignalEndpointToken, { params: { signalEndpointId }, body: { name } });
const send = (name: string, token: string, body: unknown = { status: 'firing' }) =>
  service.call(ReceiveSignal, { params: { name }, query: { authorization: `Bearer ${token}` }, body }, anonymousCaller);
const received = async (signalEndpointId: number) =>
  (await service.call(ListSignals, { params: { signalEndpointId } })).signalEndpointSignals;

describe('a signal endpoint', () => {
  it('keeps what it receives, with the name of the token, newest first', async () => {
    const { id } = await create('alertmanager');
    const { token } = await createToken(id);
    await send('alertmanager', token, { status: 'firing', alerts: [{ labels: { severity: 'page' } }] });
    await send('alertmanager', token, [1, 'two']);
    expect(await received(id)).toMatchObject([
      { source: 'signal-endpoint', sourceId: id, tokenName: 'prod', payload: [1, 'two'] },
      { payload: { status: 'firing', alerts: [{ labels: { severity: 'page' } }] } },
    ]);
  });

  it('refuses an unknown token, the token of another endpoint and an unknown endpoint alike', async () => {
    const { id } = await create('one');
    await create('other');
    const { token } = await createToken(id);
    const attempts = [
      () => send('one', `${token}0`),
      () => send('one', ''),
      () => send('other', token),
      () => send('nowhere', token),
      () => service.call(ReceiveSignal, { params: { name: 'one' }, body: {} }, anonymousCaller),
    ];
    for (const attempt of attempts)
      await expect(attempt()).rejects.toMatchObject({
        kind: 'AuthenticationRequired',
        message: 'The signal endpoint does not exist, or has no such token.',
      });
  });

  it('refuses a token from its deletion on, and stores no secret', async () => {
    const { id } = await create('deletes');
    const { id: tokenId, token } = await createToken(id);
    await send('deletes', token);
    const [stored] = await service.database.query<{ row: string }>({
      text: 'select t::text as row from signal_token t',
    });
    expect(stored?.row).not.toContain(token.slice(-64));
    await service.call(DeleteSignalEndpointToken, { params: { signalEndpointId: id, id: tokenId } });
    await expect(send('deletes', token)).rejects.toMatchObject({ kind: 'AuthenticationRequired' });
    expect(JSON.stringify(await service.emittedEvents())).not.toContain(token.slice(-64));
  });

  it('accepts nothing while it is disabled', async () => {
    const { id } = await create('off', false);
    const { token } = await createToken(id);
    await expect(send('off', token)).rejects.toMatchObject({ kind: 'OperationDeniedError' });
    await service.call(EnableSignalEndpoint, { params: { id } });
    await send('off', token);
    await service.call(DisableSignalEndpoint, { params: { id } });
    await expect(send('off', token)).rejects.toMatchObject({ kind: 'OperationDeniedError' });
  });

  it('accepts as many signals a minute as the setting says, and then says when to come again', async () => {
    const { id } = await create('busy');
    const { token } = await createToken(id);
    const results = await Promise.allSettled(Array.from({ length: 9 }, () => send('busy', token)));
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    expect(refused.length).toBeGreaterThanOrEqual(2);
    expect(refused[0]).toMatchObject({ kind: 'RateLimitError', retryAfterSeconds: expect.any(Number) as number });
    expect(await received(id)).toHaveLength(9 - refused.length);
    await service.database.query({ text: `update signal_endpoint set full_at = full_at - interval '10 seconds'` });
    await send('busy', token);
  });

  it('accepts signals again at once when the clock of the database was set back', async () => {
    const { token } = await createToken((await create('early')).id);
    await send('early', token);
    await service.database.query({ text: `update signal_endpoint set full_at = now() + interval '400 days'` });
    await send('early', token);
  });

  it('refuses a signal that is too large', async () => {
    const { id } = await create('large');
    const { token } = await createToken(id);
    await expect(send('large', token, { text: 'é'.repeat(maxSignalBytes / 2) })).rejects.toMatchObject({
      kind: 'PayloadTooLarge',
    });
    expect(await received(id)).toEqual([]);
  });

  it('has a name of its own, as each of its tokens, and no more than the settings say', async () => {
    const { id } = await create('first');
    await expect(create('first')).rejects.toMatchObject({ kind: 'NameExistsError' });
    await createToken(id, 'a');
    const { id: second } = await createToken(id, 'b');
    await expect(createToken(id, 'c')).rejects.toMatchObject({ kind: 'ExceedsLimitError' });
    const rename = { params: { signalEndpointId: id, id: second }, body: { name: 'a' } };
    await expect(service.call(UpdateSignalEndpointToken, rename)).rejects.toMatchObject({ kind: 'NameExistsError' });
    await Promise.all(['2', '3', '4', '5'].map((name) => create(name)));
    await expect(create('sixth')).rejects.toMatchObject({ kind: 'ExceedsLimitError' });
    expect((await service.call(ListSignalEndpoints)).signalEndpoints[0]).toMatchObject({
      name: 'first',
      tokens: [{ name: 'a', signalEndpointId: id }, { name: 'b' }],
    });
  });

  it('leaves an event of each change', async () => {
    const before = (await service.emittedEvents()).length;
    const { id } = await create('logged');
    const { id: tokenId } = await createToken(id);
    await service.call(UpdateSignalEndpointToken, {
      params: { signalEndpointId: id, id: tokenId },
      body: { name: 'x' },
    });
    await service.call(DisableSignalEndpoint, { params: { id } });
    await service.call(DeleteSignalEndpointToken, { params: { signalEndpointId: id, id: tokenId } });
    await service.call(DeleteSignalEndpoint, { params: { id } });
    expect((await service.emittedEvents()).slice(before).map(({ type }) => type)).toEqual([
      'signal-endpoint-created',
      'signal-endpoint-token-created',
      'signal-endpoint-token-updated',
      'signal-endpoint-updated',
      'signal-endpoint-token-deleted',
      'signal-endpoint-deleted',
    ]);
  });
});
