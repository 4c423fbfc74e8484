import type { AnyOperation, ServiceName } from './operation.ts';
import { serviceNames, serviceOf } from './operation.ts';
import {
  ApplyChanges,
  CheckChanges,
  CopyEnvironmentPermissions,
  CountEnvironmentTokens,
  CountProjectMembers,
  CountResources,
  DescribeChangeRequest,
  DiscardSegmentIds,
  EndEnvironmentAccess,
  ExecuteAction,
  FindEventLogPosition,
  FindNeededSegmentLists,
  GetFeature,
  GetFeatureEnvironment,
  GetOwnRoles,
  GetPeopleOfChangeRequest,
  GetPermissionsOfUsers,
  GetProjectActivity,
  GetResourceLimits,
  GetSegmentBlocks,
  HideProject,
  InviteSlackUser,
  ListEdgeInstances,
  ListEnvironmentNames,
  ListEnvironmentSettingsOfProject,
  ListEnvironmentsOfProjects,
  ListFeatureFollowers,
  ListPermissionHolders,
  ListProjects,
  ListProposedSegmentStrategies,
  ListStateVersions,
  ListTokensNearTheirEnd,
  PreviewChanges,
  ProposeImport,
  ReadEventLog,
  ReadProposedChanges,
  ReadStates,
  ReviewAsSlackUser,
  SearchEvents,
  SetProtection,
  StageSegmentIds,
} from './nouns.ts';
import { httpOperations } from './operations.ts';
import { deadLetterOperations, consumersOf, outboxOperations, type Producer } from './outbox.ts';

/**
 * For each service, the operations of other services that its own code calls. A call of any other does not compile, and is refused by NATS:
 * the rights in docker/nats/nats.conf are generated from this list (`npm run config:table`).
 */
export const calledOperations = {
  features: [
    CopyEnvironmentPermissions,
    CountEnvironmentTokens,
    CountProjectMembers,
    EndEnvironmentAccess,
    FindNeededSegmentLists,
    GetOwnRoles,
    GetProjectActivity,
    HideProject,
    ListPermissionHolders,
    ListProposedSegmentStrategies,
    ProposeImport,
    ReadProposedChanges,
    SearchEvents,
  ],
  'change-requests': [
    ApplyChanges,
    CheckChanges,
    GetPermissionsOfUsers,
    ListEnvironmentSettingsOfProject,
    ListEnvironmentsOfProjects,
    ListPermissionHolders,
    ListProjects,
    PreviewChanges,
    SetProtection,
  ],
  audit: [deadLetterOperations.search, deadLetterOperations['change-requests'], deadLetterOperations.gateway],
  search: [ListStateVersions, ReadStates],
  integrations: [
    DescribeChangeRequest,
    ExecuteAction,
    FindEventLogPosition,
    GetFeature,
    GetFeatureEnvironment,
    GetPeopleOfChangeRequest,
    GetPermissionsOfUsers,
    InviteSlackUser,
    ListFeatureFollowers,
    ListTokensNearTheirEnd,
    ReadEventLog,
    ReviewAsSlackUser,
  ],
  gateway: [
    CountResources,
    DiscardSegmentIds,
    GetResourceLimits,
    GetSegmentBlocks,
    ListEdgeInstances,
    ListEnvironmentNames,
    ListEnvironmentSettingsOfProject,
    ListProjects,
    SearchEvents,
    StageSegmentIds,
  ],
} as const satisfies Readonly<Record<ServiceName, readonly AnyOperation[]>>;

/** An operation that the code of a service may call. */
export type CalledBy<S extends ServiceName> = (typeof calledOperations)[S][number];

/** Whether the gateway passes requests on to the operation: it has a binding to HTTP, and another service executes it. */
function isCalledForRequests(operation: AnyOperation): boolean {
  return serviceOf(operation) !== 'gateway' && operation.respondsFromMemory !== true;
}

/** What `operationsCalledBy` has found: it is asked for each operation of a service that starts. */
const calledBy = new Map<ServiceName, readonly AnyOperation[]>();

/** Everything that a service calls on other services: its own calls, the outboxes that it reads, and in the gateway what requests call. */
export function operationsCalledBy(service: ServiceName): readonly AnyOperation[] {
  const known = calledBy.get(service);
  if (known !== undefined) return known;
  const outboxes = (Object.keys(outboxOperations) as Producer[]).filter((producer) =>
    Object.values(consumersOf[producer]).some((consumers) => consumers.includes(service)),
  );
  const operations = [
    ...new Set<AnyOperation>([
      ...calledOperations[service],
      ...outboxes.map((producer) => outboxOperations[producer]),
      ...(service === 'gateway' ? httpOperations.filter(isCalledForRequests) : []),
    ]),
  ];
  calledBy.set(service, operations);
  return operations;
}

/** The services that a service calls. */
export function servicesCalledBy(service: ServiceName): readonly ServiceName[] {
  const called = new Set(operationsCalledBy(service).map(serviceOf));
  return serviceNames.filter((name) => called.has(name));
}

/** Whether another service calls the operation: otherwise its own process alone does. */
export function isCalledByServices(operation: AnyOperation): boolean {
  return serviceNames.some((name) => operationsCalledBy(name).includes(operation));
}
