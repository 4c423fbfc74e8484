import { type OperationRequest, type Bus, call, onBehalfOf } from '@bunting/bus';
import { type AnyOperation, GetProjectActivity, Refusal, type ReplyOf } from '@bunting/contracts';

export type ActiveProject = ReplyOf<typeof GetProjectActivity>['projects'][number];

/** How long a page waits for figures of the event log that it can be shown without. */
const optionalMs = 2_000;

/** The activity of a project, or of all, as the event log has it. @throws Refusal where the audit service does not answer */
export const loadActivity = async (
  bus: Bus,
  request: OperationRequest<AnyOperation>,
  body: { readonly project?: string; readonly days?: number },
): Promise<readonly ActiveProject[]> => (await call(bus, GetProjectActivity, { body }, onBehalfOf(request))).projects;

/** The same, or undefined where the audit service does not answer soon: a page about projects does not need it to be shown. */
export const loadActivityIfAvailable = async (
  bus: Bus,
  request: OperationRequest<AnyOperation>,
  body: { readonly project?: string },
): Promise<readonly ActiveProject[] | undefined> => {
  const context = onBehalfOf(request);
  try {
    const within = { ...context, timeoutMs: Math.min(optionalMs, context.timeoutMs / 2) };
    return (await call(bus, GetProjectActivity, { body }, within)).projects;
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'ServiceUnavailable') return undefined;
    throw error;
  }
};

/** The counts of a project without events. */
export const noActivity: Pick<ActiveProject, 'currentWindow' | 'pastWindow' | 'days'> = {
  currentWindow: 0,
  pastWindow: 0,
  days: [],
};
