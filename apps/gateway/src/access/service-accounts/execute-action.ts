import { type Bus, type CallContext, type CallRequest, deserializeRefusal } from '@bunting/bus';
import {
  type ActionKind,
  AddChanges,
  type AnyOperation,
  ArchiveFeature,
  type Caller,
  type ChangeRequest,
  ChangeState,
  DisableFeature,
  EnableFeature,
  GetChangeRequest,
  GetFeature,
  isFinalRefusal,
  isRead,
  ListPendingChangeRequests,
  ListScheduled,
  operationName,
  permissionsFor,
  type ReplyOf,
  SetStale,
  TagFeatures,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { requirePermission } from '@bunting/http';
import { callWithCurrentRights } from '../../admission/authorisation.ts';

interface ActionToExecute {
  readonly accountId: number;
  readonly action: ActionKind;
  readonly project: string;
  readonly executionParams: Readonly<Record<string, string>>;
  /** the same for each attempt */
  readonly key: string;
  readonly reason: string;
}

/** Calls an operation of the REST API as the account: with the checks of a request, and, for a write, an idempotency key. */
type CallAsAccount = <O extends AnyOperation>(operation: O, request: CallRequest<O>) => Promise<ReplyOf<O>>;

/**
 * Executes an action as an account.
 * @returns what was done, where it is more than the action says, or why it was refused
 * @throws Refusal that may end by itself, or a defect
 */
export async function executeAction(
  bus: Bus,
  caller: Caller,
  action: ActionToExecute,
  context: Omit<CallContext, 'caller'>,
): Promise<{ readonly refusal: string | null; readonly details: string }> {
  const callAs: CallAsAccount = async (operation, request) => {
    const permissions = permissionsFor(operation);
    if (permissions.length > 0)
      requirePermission(caller, permissions, request.params as { projectId?: string; environment?: string });
    // Services rely on it that the gateway has validated what they get, as it does for a request.
    if (request.body !== undefined) parse(operation.body, request.body, '/body');
    const response = await callWithCurrentRights(bus, operation, request, {
      ...context,
      caller,
      ...(isRead(operation) ? {} : { idempotencyKey: `${action.key}-${operationName(operation)}` }),
      readCurrentCaller: async () => caller,
    });
    if ('refusal' in response) throw deserializeRefusal(response.refusal);
    return JSON.parse(response.reply.json) as ReplyOf<typeof operation>;
  };
  try {
    return { refusal: null, details: (await executors[action.action](callAs, action)) ?? '' };
  } catch (error) {
    if (!isFinalRefusal(error) || error.retryAfterSeconds !== undefined) throw error;
    return { refusal: error.message, details: '' };
  }
}

type Executor = (callAs: CallAsAccount, action: ActionToExecute) => Promise<string | undefined>;

function featureOf({ project, executionParams: { featureName = '', environment = '' } }: ActionToExecute) {
  return { projectId: project, featureName, environment };
}

const executors: Readonly<Record<ActionKind, Executor>> = {
  TOGGLE_FEATURE_ON: async (callAs, action) => {
    await callAs(EnableFeature, { params: featureOf(action) });
    return undefined;
  },
  TOGGLE_FEATURE_OFF: async (callAs, action) => {
    await callAs(DisableFeature, { params: featureOf(action) });
    return undefined;
  },
  PROPOSE_FEATURE_ON: (callAs, action) => propose(callAs, action, true),
  PROPOSE_FEATURE_OFF: (callAs, action) => propose(callAs, action, false),
  MARK_FEATURE_STALE: async (callAs, action) => {
    const { projectId, featureName } = featureOf(action);
    // Marking ignores flags that do not exist.
    await callAs(GetFeature, { params: { projectId, featureName } });
    await callAs(SetStale, { params: { projectId }, body: { features: [featureName], stale: true } });
    return undefined;
  },
  TAG_FEATURE: async (callAs, action) => {
    const { type = '', value = '' } = action.executionParams;
    const { projectId, featureName } = featureOf(action);
    const tags = { addedTags: [{ type, value }], removedTags: [] };
    await callAs(TagFeatures, { params: { projectId }, body: { features: [featureName], tags } });
    return undefined;
  },
  ARCHIVE_FEATURE: async (callAs, action) => {
    await callAs(ArchiveFeature, { params: featureOf(action) });
    return undefined;
  },
};

/**
 * Opens a change request of the account and sends it to review, unless one with the same change waits already: alerts repeat. It is approved
 * and applied by the rules for every change request.
 */
async function propose(callAs: CallAsAccount, action: ActionToExecute, enabled: boolean): Promise<string> {
  const { projectId, featureName, environment } = featureOf(action);
  const params = { projectId, environment };
  const waiting = await findWaiting(callAs, action, enabled);
  if (waiting !== undefined) return `Change request #${waiting} proposes it already.`;
  const body = { action: 'updateEnabled', feature: featureName, payload: { enabled } };
  const { id, state } = await callAs(AddChanges, { params, query: { new: true }, body });
  if (state === 'Draft') await sendToReview(callAs, action, enabled, id);
  return `Change request #${id} was opened.`;
}

/** Sends a draft to review, unless another run of the account, which shares the draft, has done it with the change in it. */
async function sendToReview(
  callAs: CallAsAccount,
  { project: projectId, executionParams: { featureName = '' }, reason }: ActionToExecute,
  enabled: boolean,
  id: number,
): Promise<void> {
  const params = { projectId, id };
  try {
    await callAs(ChangeState, { params, body: { state: 'In review', comment: reason } });
  } catch (error) {
    if (!isFinalRefusal(error)) throw error;
    const request = await callAs(GetChangeRequest, { params });
    if (request.state === 'Draft' || !switches(request, featureName, enabled)) throw error;
  }
}

type Proposed = Pick<ChangeRequest, 'features'>;

function switches({ features }: Proposed, featureName: string, enabled: boolean): boolean {
  const changes = features.find(({ name }) => name === featureName)?.changes ?? [];
  return changes.some(
    ({ action, payload }) => action === 'updateEnabled' && (payload as { enabled?: unknown }).enabled === enabled,
  );
}

/** The id of a request of the account that proposes the same, also while it is scheduled or applied. A draft is sent to review by `propose`. */
async function findWaiting(
  callAs: CallAsAccount,
  action: ActionToExecute,
  enabled: boolean,
): Promise<number | undefined> {
  const { projectId, featureName, environment } = featureOf(action);
  const own = await callAs(ListPendingChangeRequests, { params: { projectId } });
  const pending = own.find(
    (request) =>
      request.environment === environment && request.state !== 'Draft' && switches(request, featureName, enabled),
  );
  if (pending !== undefined) return pending.id;
  const scheduled = await callAs(ListScheduled, { params: { projectId }, query: { feature: [featureName] } });
  for (const { id } of scheduled.filter((request) => request.environment === environment)) {
    const request = await callAs(GetChangeRequest, { params: { projectId, id } });
    if (request.createdBy.id === action.accountId && switches(request, featureName, enabled)) return id;
  }
  return undefined;
}
