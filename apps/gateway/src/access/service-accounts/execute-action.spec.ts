import { implement, inProcessBus, serve, systemContext } from '@bunting/bus';
import {
  AddChanges,
  type Caller,
  ChangeState,
  GetChangeRequest,
  ListPendingChangeRequests,
  ListScheduled,
  refusal,
  TagFeatures,
} from '@bunting/contracts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { executeAction } from './execute-action.ts';

const robot: Caller = {
  id: 7,
  name: 'robot',
  isService: true,
  grants: [{ permission: 'UPDATE_FEATURE', project: 'shop' }],
};
/** A request of the robot that switches `checkout` off, as much of it as is read. */
const request = (state: string, enabled = false) =>
  ({
    id: 1,
    state,
    environment: 'production',
    createdBy: { id: robot.id },
    features: [{ name: 'checkout', changes: [{ action: 'updateEnabled', payload: { enabled } }] }],
  }) as never;

let bus: ReturnType<typeof inProcessBus>;
beforeEach(() => {
  bus = inProcessBus();
});
afterEach(() => bus.close());

const execute = (action: 'PROPOSE_FEATURE_OFF' | 'TAG_FEATURE', executionParams: Record<string, string>) => {
  const common = { accountId: robot.id, project: 'shop', key: 'one', reason: 'An alert.' };
  return executeAction(bus, robot, { ...common, action, executionParams }, systemContext(5_000));
};

/** Change requests at the moment when another run of the robot has sent the draft, which both share, to review. */
const serveSentDraft = (sent: never) =>
  serve(bus, [
    implement(ListPendingChangeRequests, async () => []),
    implement(ListScheduled, async () => []),
    implement(AddChanges, async () => request('Draft')),
    implement(ChangeState, async () => {
      throw refusal('ConflictError', 'It is in review already.');
    }),
    implement(GetChangeRequest, async () => sent),
  ]);
const proposal = { featureName: 'checkout', environment: 'production' };

it('opens a change request also where another run of the account sends it to review first', async () => {
  await serveSentDraft(request('In review'));
  expect(await execute('PROPOSE_FEATURE_OFF', proposal)).toEqual({
    refusal: null,
    details: 'Change request #1 was opened.',
  });
});

it('says why a change request is not in review, or proposes something else', async () => {
  for (const other of [request('Draft'), request('In review', true)]) {
    const served = await serveSentDraft(other);
    expect((await execute('PROPOSE_FEATURE_OFF', proposal)).refusal).toBe('It is in review already.');
    await served.stop();
  }
});

it('refuses a tag that the API refuses', async () => {
  const tagged: string[] = [];
  await serve(bus, [
    implement(TagFeatures, async ({ body }) => {
      tagged.push(...body.tags.addedTags.map(({ value }) => value));
      return null;
    }),
  ]);
  const tag = (value: string) => execute('TAG_FEATURE', { featureName: 'checkout', type: 'simple', value });
  for (const value of ['x', 'x'.repeat(255)]) expect((await tag(value)).refusal).toContain('/body/tags/addedTags');
  expect((await tag('incident')).refusal).toBeNull();
  expect(tagged).toEqual(['incident']);
});
