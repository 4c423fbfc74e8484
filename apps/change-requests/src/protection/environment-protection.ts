import { invalidProperty, type OutboxEvent, outboxEvent, refusal } from '@bunting/contracts';
import type { Actor, EnvironmentRef } from '../requests/change-request.ts';

const minApprovals = 1;
const maxApprovals = 10;

/** The protection of an environment: the number of approvals that new requests require; null without protection. */
type RequiredApprovals = number | null;

/** The new protection of an environment, and the events to emit. */
export interface ProtectionDecision {
  readonly requiredApprovals: RequiredApprovals;
  readonly events: readonly OutboxEvent[];
}

/**
 * The requested protection. Without a number, or with 0, which clients send who have none, it is the minimum; where protection ends, the
 * number does not matter.
 */
function wantedProtection(
  wanted: { readonly changeRequestsEnabled: boolean; readonly requiredApprovals?: number | undefined },
  minimum: number,
): RequiredApprovals {
  if (!wanted.changeRequestsEnabled) return null;
  const given = wanted.requiredApprovals ?? 0;
  const requiredApprovals = given === 0 ? minimum : given;
  if (requiredApprovals > maxApprovals)
    throw invalidProperty(
      `The number of approvals must be from ${minApprovals} to ${maxApprovals}, and is ${requiredApprovals}; to need none, end the protection with changeRequestsEnabled`,
      '/body/requiredApprovals',
    );
  return requiredApprovals;
}

/** Refuses a value below the minimum that the environment sets for every project. A lower stored value may stay unchanged. */
function requireMinimum(
  before: RequiredApprovals,
  after: RequiredApprovals,
  minimum: number,
  environment: string,
): void {
  if (after === before || (after ?? 0) >= minimum) return;
  const path = after === null ? '/body/changeRequestsEnabled' : '/body/requiredApprovals';
  throw invalidProperty(`The environment ${environment} asks for at least ${minimum} approvals`, path);
}

function toEventData(requiredApprovals: RequiredApprovals) {
  return {
    changeRequestsEnabled: requiredApprovals !== null,
    requiredApprovals,
  };
}

/** The events of a changed protection; none if it is the same. */
function protectionEvents(
  { project, environment }: EnvironmentRef,
  before: RequiredApprovals,
  after: RequiredApprovals,
  actor: Actor,
): OutboxEvent[] {
  return before === after
    ? []
    : [
        outboxEvent(
          {
            type: 'change-request-configuration-updated',
            project,
            environment,
            data: toEventData(after),
            preData: toEventData(before),
          },
          actor,
        ),
      ];
}

interface WantedProtection {
  readonly before: RequiredApprovals;
  readonly wanted: Parameters<typeof wantedProtection>[0];
  /** the minimum that the environment sets for every project; undefined without one. Only administrators may set fewer approvals. */
  readonly minimum: number | undefined;
  readonly isAdministrator: boolean;
}

/** Sets or removes the protection of an environment. */
export function setEnvironmentProtection(
  environmentRef: EnvironmentRef,
  { before, wanted, minimum, isAdministrator }: WantedProtection,
  actor: Actor,
): ProtectionDecision {
  const after = wantedProtection(wanted, minimum ?? minApprovals);
  if (minimum !== undefined && !isAdministrator) requireMinimum(before, after, minimum, environmentRef.environment);
  return { requiredApprovals: after, events: protectionEvents(environmentRef, before, after, actor) };
}

/**
 * The number of approvals that a new request requires. In an unprotected environment the request is voluntary and requires the minimum.
 * @throws Refusal `NoAccessError` if the environment is not protected and voluntary requests are disabled.
 */
export function approvalsForNewRequest(configured: RequiredApprovals, allowsVoluntaryRequests: boolean): number {
  if (configured === null && !allowsVoluntaryRequests) {
    throw refusal('NoAccessError', 'Change requests are not enabled in this environment');
  }
  return configured ?? minApprovals;
}
