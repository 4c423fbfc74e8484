import { type OperationRequest, type Bus, onBehalfOf } from '@bunting/bus';
import { type AnyOperation, GetProjectActivity, Refusal, type ReplyOf } from '@bunting/contracts';
import { call } from '../calls.ts';

type ActiveProject = ReplyOf<typeof GetProjectActivity>['projects'][number];

/** The timeout of calls for optional data, in milliseconds. */
const optionalTimeoutMs = 2_000;

/** The activity of a project, or of all projects, from the event log. @throws Refusal if the audit service does not reply. */
export const loadActivity = async (
  bus: Bus,
  request: OperationRequest<AnyOperation>,
  body: { readonly project?: string; readonly days?: number },
): Promise<readonly ActiveProject[]> => (await call(bus, GetProjectActivity, { body }, onBehalfOf(request))).projects;

/**
 * The activity as from `loadActivity`, or undefined if the audit service does not reply in time: pages about projects are shown without it.
 */
export const loadActivityIfAvailable = async (
  bus: Bus,
  request: OperationRequest<AnyOperation>,
  body: { readonly project?: string },
): Promise<readonly ActiveProject[] | undefined> => {
  const context = onBehalfOf(request);
  try {
    const contextWithTimeout = { ...context, timeoutMs: Math.min(optionalTimeoutMs, context.timeoutMs / 2) };
    return (await call(bus, GetProjectActivity, { body }, contextWithTimeout)).projects;
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'ServiceUnavailable') return undefined;
    throw error;
  }
};

/** The activity of a project without events. */
export const activityWithoutEvents: Pick<ActiveProject, 'currentWindow' | 'pastWindow' | 'days'> = {
  currentWindow: 0,
  pastWindow: 0,
  days: [],
};
