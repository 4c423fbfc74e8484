import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { ErrorKind } from './errors.ts';
import type { Permission } from './permissions.ts';
import { lenientSchema } from './lenient-schema.ts';
import { NoFields, type ParametersOfUrl, parametersOfUrl } from './paths.ts';

/** The services that handle calls. */
export const serviceNames = ['gateway', 'features', 'change-requests', 'audit', 'search', 'integrations'] as const;
export type ServiceName = (typeof serviceNames)[number];

export interface HttpBinding {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** with `:name` for a path parameter */
  readonly url: string;
  /** the status of a successful response; 200 when left out */
  readonly status?: 200 | 201 | 202 | 204;
  /** for a write whose body is not read: the request may have any content type, or none */
  readonly anyContentType?: true;
  /** a body without a content type is read as JSON, for clients that send none */
  readonly assumesJson?: true;
  /** the body is a form (`application/x-www-form-urlencoded`), which the operation gets as the text that was sent: a signature covers it */
  readonly form?: true;
  /**
   * members of the body whose names are not accepted, such as `__proto__`, are left out. Otherwise one of them refuses the body: a report,
   * whose names come from the users of applications, would be lost as a whole
   */
  readonly dropsUnusableNames?: true;
  /** the limit of the body is `GATEWAY_MAX_LARGE_BODY_BYTES`, instead of the ordinary one */
  readonly largeBody?: true;
  /**
   * it may change or return every feature of a project or an environment, or waits for another system: the timeout of its call is that of
   * operations with a large body, `GATEWAY_LARGE_CALL_TIMEOUT_MS`
   */
  readonly takesLong?: true;
  /**
   * the schema of a line, where the response is a stream of lines. The operation replies with a page of it: `items`, `next`, which is the
   * parameter `after` of the next page, and `atEnd`. The gateway calls it for page after page
   */
  readonly lines?: TSchema;
  /**
   * the body of a write, or the response of a read, is a list of ids of any length, as CSV, NDJSON or text, which the gateway passes on in
   * pieces. An operation whose body is optional gets null without one
   */
  readonly idList?: 'required' | 'optional' | 'response';
  /** the response is a stream of server-sent events, which the gateway writes itself; the reply is its text */
  readonly eventStream?: true;
  /** the content type of the response, whose body is the reply's text; JSON when left out */
  readonly contentType?: 'text/csv' | 'text/plain';
  /** headers that provide query parameters, as header names by parameter names; the query itself cannot set these */
  readonly headers?: Readonly<Record<string, string>>;
  /** the name of the query parameter that the gateway sets to the IP address of the client; clients cannot set it */
  readonly address?: string;
  /** the `Location` of the created resource, from the request and the reply */
  readonly location?: (request: { params: never; body: never }, reply: never) => string;
}

/**
 * Who may call an operation: callers with any of the permissions; `authenticated`: every caller with a valid key; `proposer`: every caller
 * with a valid key who may propose changes in the project of the URL; `public`: everyone, without a key and within a limit of requests per IP
 * address; `service`: only Bunting's own services. There is no default, so an operation without it does not compile.
 */
export type Access =
  Permission | readonly [Permission, ...Permission[]] | 'authenticated' | 'proposer' | 'public' | 'service';

/** The resource whose entity tag a write with `If-Match` must match. */
export type IfMatchTarget =
  | 'feature'
  | 'feature environment'
  | 'strategy'
  | 'segment'
  | 'environment'
  | 'change request'
  | 'integration'
  | 'action set';

/** The groups of operations in OpenAPI, with Unleash's names. */
export type OperationTag =
  | 'Actions'
  | 'Addons'
  | 'API tokens'
  | 'Admin UI'
  | 'Archive'
  | 'Auth'
  | 'Change Requests'
  | 'Client'
  | 'Context'
  | 'Dependencies'
  | 'Edge'
  | 'Environments'
  | 'Events'
  | 'Feature Types'
  | 'Features'
  | 'Frontend API'
  | 'Groups'
  | 'Import/Export'
  | 'Instance Admin'
  | 'Internal'
  | 'Maintenance'
  | 'Metrics'
  | 'Notifications'
  | 'OFREP'
  | 'Personal access tokens'
  | 'Playground'
  | 'Projects'
  | 'Public signup tokens'
  | 'Roles'
  | 'Search'
  | 'Segments'
  | 'Service Accounts'
  | 'Signals'
  | 'Strategies'
  | 'Tags'
  | 'Telemetry'
  | 'Users';

/** The reply of an operation whose response has no body. */
export const NoReply = Type.Null();
/** The body of an operation whose request has none. */
export const NoBody = Type.Undefined();

export interface Operation<
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  R extends TSchema = TSchema,
> {
  /** `call.<service>.<operation>`: the subject of the call on the bus */
  readonly subject: `call.${ServiceName}.${string}`;
  /** Unleash's name of the operation in OpenAPI, from which clients are generated; that in the subject, if none is declared */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: OperationTag;
  readonly http?: HttpBinding;
  readonly permission: Access;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly reply: R;
  /** the resource whose entity tag `If-Match` is compared with; a write without it rejects the header */
  readonly ifMatch?: IfMatchTarget;
  /** for a read: the service sets the entity tag itself and can skip the body when `If-None-Match` matches */
  readonly setsEntityTag?: true;
  /** the gateway responds from its memory (`libs/delivery`): the operation has no endpoint and is never called on the bus */
  readonly respondsFromMemory?: true;
  /**
   * creates or deletes a project, or changes who may see it: the response waits, up to a timeout, until the gateway authorises requests
   * by the change
   */
  readonly changesProjectVisibility?: true;
  /** the error kinds, except those of 401, 403 and 503, which every operation can have */
  readonly errors: readonly ErrorKind[];
  readonly deprecated?: true;
  /** Bunting has the operation and Unleash does not: docs/api.md describes it */
  readonly isBuntingExtension?: true;
  /** the operation changes nothing and emits no event; implied by GET */
  readonly readsOnly?: true;
  /**
   * reads far more than most operations, or replies with megabytes, on a large installation: a service runs few of them at the same time, so
   * that they do not hold the connections that others need
   */
  readonly isHeavy?: true;
  /** whether a retry has no further effect; implied by GET and `readsOnly` */
  readonly idempotent?: boolean;
}

type Declared = Omit<
  Operation,
  'subject' | 'operationId' | 'tag' | 'permission' | 'params' | 'query' | 'body' | 'reply' | 'errors'
>;

/** Of an operation that supports `If-Match`, its type says so: callers that may overwrite newer edits decide by it. */
type SupportsIfMatch<M extends IfMatchTarget | undefined> = [M] extends [IfMatchTarget]
  ? { readonly ifMatch: M }
  : unknown;

/** An operation over HTTP says who may call it. One without is for services, unless it says otherwise, and declares whether it is idempotent; GET implies it. */
type Exposure =
  | { readonly http: HttpBinding; readonly permission: Access; readonly idempotent?: true }
  | { readonly http?: never; readonly permission?: Access; readonly idempotent: boolean };

/**
 * Returns what declares the operations of a group. An operation is declared once: validation, static types, routing, permission and OpenAPI
 * all follow from this object. Left out are an `operationId` that is the name in the subject, the parameters of a URL that are always the
 * same (`pathParameters`), and the errors of an operation over HTTP that only refuses its body, if it has one, and finds nothing at its
 * parameters, if it has some.
 */
export function operationsOf(group: OperationTag) {
  return function defineOperation<
    const U extends string = '',
    P extends TSchema = ParametersOfUrl<U>,
    Q extends TSchema = typeof NoFields,
    B extends TSchema = typeof NoBody,
    R extends TSchema = typeof NoReply,
    M extends IfMatchTarget | undefined = undefined,
    S extends Operation['subject'] = Operation['subject'],
  >(
    declared: Declared &
      Exposure & {
        readonly subject: S;
        readonly operationId?: string;
        readonly tag?: OperationTag;
        readonly http?: { readonly url: U };
        readonly ifMatch?: M;
        readonly params?: P;
        readonly query?: Q;
        readonly body?: B;
        readonly reply?: R;
        readonly errors?: readonly ErrorKind[];
      },
  ): Operation<P, Q, B, R> & SupportsIfMatch<M> & { readonly subject: S } {
    const { http } = declared;
    const params = declared.params ?? (http === undefined ? NoFields : parametersOfUrl(http.url));
    const ownErrors: ErrorKind[] = [];
    if (declared.body !== undefined) ownErrors.push('ValidationError');
    if (http?.url.includes('/:') === true) ownErrors.push('NotFoundError');
    return {
      tag: group,
      permission: 'service',
      ...(declared as Declared & Exposure & SupportsIfMatch<M> & { readonly subject: S }),
      operationId: declared.operationId ?? idOf(declared.subject),
      params: params as P,
      query: (declared.query ?? NoFields) as Q,
      body: lenientSchema(declared.body ?? NoBody) as B,
      reply: (declared.reply ?? NoReply) as R,
      errors: declared.errors ?? (http === undefined ? [] : ownErrors),
    };
  };
}

/** The name in a subject in camel case. */
function idOf(subject: Operation['subject']): string {
  return (subject.split('.')[2] ?? '').replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Declares a call between services. */
export const defineOperation = operationsOf('Internal');

export type AnyOperation = Operation<TSchema, TSchema, TSchema, TSchema>;

/** The request of an operation. */
export interface RequestOf<O extends AnyOperation> {
  readonly params: Static<O['params']>;
  readonly query: Static<O['query']>;
  readonly body: Static<O['body']>;
}
export type ReplyOf<O extends AnyOperation> = Static<O['reply']>;

/** The service that handles an operation. */
export function serviceOf(operation: AnyOperation): ServiceName {
  return operation.subject.split('.')[1] as ServiceName;
}

/** The kebab-case name that an operation has on every hop. */
export function operationName(operation: AnyOperation): string {
  return operation.subject.split('.')[2] as string;
}

/** Whether the operation changes nothing and emits no event. */
export function isRead({ http, readsOnly }: AnyOperation): boolean {
  return readsOnly === true || http?.method === 'GET';
}

/** Whether a caller may retry the operation after a timeout. */
export function isIdempotent(operation: AnyOperation): boolean {
  return operation.idempotent === true || isRead(operation);
}

/** Whether the operation needs no token. A token that is sent is ignored. */
export function isPublicOperation({ permission }: AnyOperation): boolean {
  return permission === 'public';
}

/** The permissions of which a caller needs one; empty for the access `authenticated`, `proposer`, `public` or `service`, which requires none. */
export function permissionsFor({ permission }: Pick<AnyOperation, 'permission'>): readonly Permission[] {
  switch (permission) {
    case 'authenticated':
    case 'proposer':
    case 'public':
    case 'service':
      return [];
    default:
      return typeof permission === 'string' ? [permission] : permission;
  }
}

export function hasBody(operation: AnyOperation): boolean {
  return operation.body !== (NoBody as TSchema);
}

export function isObjectSchema(schema: TSchema): schema is TObject {
  return 'properties' in schema;
}
