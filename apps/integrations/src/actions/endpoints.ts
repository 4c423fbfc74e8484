import { type Endpoint, implement, onBehalfOf, type OperationRequest, reads, writes } from '@bunting/bus';
import {
  type ActionSetBody,
  type AnyOperation,
  CreateActionSet,
  DeleteActionSet,
  DisableActionSet,
  EnableActionSet,
  GetActionSet,
  GetFeature,
  GetFeatureEnvironment,
  GetPermissionsOfUsers,
  invalid,
  limitExceeded,
  ListActionSetEvents,
  ListActionSets,
  Refusal,
  UpdateActionSet,
} from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import { call } from '../calls.ts';
import type { IntegrationsContext } from '../endpoints.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { actionSetFrom, type ActionSetToStore } from './action-set.ts';

type SetRequest = Omit<OperationRequest<AnyOperation>, 'body' | 'params'> & {
  readonly body: ActionSetBody;
  readonly params: { readonly projectId: string };
};

export function actionEndpoints(context: IntegrationsContext): readonly Endpoint[] {
  const { bus, actions, transaction, maxActionSets } = context;

  /** @throws Refusal `ValidationError` unless the actor is a service account, and the flags and environments are those of the project */
  const checkedSet = async (request: SetRequest): Promise<ActionSetToStore> => {
    const { projectId } = request.params;
    const set = actionSetFrom(request.body, projectId);
    const onBehalf = onBehalfOf(request);
    const { users } = await call(bus, GetPermissionsOfUsers, { body: { ids: [set.actorId] } }, onBehalf);
    if (users[0]?.caller.isService !== true)
      throw invalid('The `/body/actorId` property must be the id of an active service account.', '/body/actorId');
    for (const [nth, { executionParams }] of set.actions.entries()) {
      const { featureName = '', environment } = executionParams;
      const params = { projectId, featureName };
      const reading: Promise<unknown> =
        environment === undefined
          ? call(bus, GetFeature, { params }, onBehalf)
          : call(bus, GetFeatureEnvironment, { params: { ...params, environment } }, onBehalf);
      await reading.catch((error: unknown) => {
        if (!(error instanceof Refusal) || error.kind !== 'NotFoundError') throw error;
        throw invalid(`Action ${nth + 1}: ${error.message}`, `/body/actions/${nth}/executionParams`);
      });
    }
    return set;
  };

  const switchTo =
    (enabled: boolean) =>
    async (
      tx: Transaction,
      { params }: { readonly params: { readonly projectId: string; readonly id: number } },
    ): Promise<null> => {
      const before = await tx.actions.lock(params.projectId, params.id);
      if (before.enabled !== enabled) await tx.actions.switchTo(before, enabled);
      return null;
    };

  return [
    implement(ListActionSets, async ({ params }) => ({ actions: await actions.sets(params.projectId) })),
    reads(GetActionSet, async ({ params }) => {
      const set = await actions.set(params.projectId, params.id);
      return { json: JSON.stringify(set), tag: contentTag(set) };
    }),
    implement(CreateActionSet, async (request) => {
      const set = await checkedSet(request);
      return transaction(request, async (tx) => {
        const added = await tx.actions.add(set, request.caller.id, request.now, maxActionSets);
        if (added === undefined) throw limitExceeded('action set', maxActionSets);
        return added;
      });
    }),
    implement(UpdateActionSet, async (request) => {
      const set = await checkedSet(request);
      const { projectId, id } = request.params;
      return transaction(request, async (tx) => {
        const before = await tx.actions.lock(projectId, id);
        request.requireIfMatch?.([contentTag(before)]);
        const after = await tx.actions.save(before, set, request.caller.id, request.now);
        request.setHeader('ETag', `"${contentTag(after)}"`);
        return after;
      });
    }),
    writes(EnableActionSet, transaction, switchTo(true)),
    writes(DisableActionSet, transaction, switchTo(false)),
    writes(DeleteActionSet, transaction, async (tx, { params }) => {
      await tx.actions.remove(await tx.actions.lock(params.projectId, params.id));
      return null;
    }),
    reads(ListActionSetEvents, ({ params, query: { limit = 50, offset = 0 } }) =>
      actions.runs(params.projectId, params.id, limit, offset),
    ),
  ];
}
