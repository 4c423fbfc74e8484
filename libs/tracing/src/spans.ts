import type { Attributes, Span, SpanContext } from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';

/** The kind of a span, as OpenTelemetry names it. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** A span that is about to start. */
export interface SpanOptions {
  /** without values that differ from request to request */
  readonly name: string;
  readonly kind: SpanKind;
  /** without secrets and payloads */
  readonly attributes?: Attributes;
}

/** The parent and the links of a span, in the sense of OpenTelemetry. */
interface SpanOrigin {
  readonly parent?: SpanContext | undefined;
  readonly links?: readonly SpanContext[];
}

/** Starts spans of the SDK, which is loaded only where traces are exported. */
export type StartSpan = (options: SpanOptions, origin: SpanOrigin) => Span;

let startSpanOfSdk: StartSpan | undefined;
const activeSpan = new AsyncLocalStorage<Span | undefined>();

/** Sets the function that starts spans, or undefined, with which no span starts. */
export function setStartSpan(start: StartSpan | undefined): void {
  startSpanOfSdk = start;
}

const sampled = 1;
const traceparentPattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The span that a W3C `traceparent` names; undefined for a text that is none. */
function spanContextOf(traceparent: string | null | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = traceparentPattern.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & sampled, isRemote: true };
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & sampled).toString().padStart(2, '0')}`;
}

/** A span that has started. */
export interface StartedSpan {
  /** the W3C trace context of what the span causes elsewhere */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  /** Marks the span as failed. Takes a type instead of a message, since messages quote values. */
  fail(errorType: string): void;
  /** Runs work with this span as the active one. */
  run<T>(work: () => T): T;
  end(): void;
}

const errorStatus = 2;

function toStartedSpan(span: Span): StartedSpan {
  return {
    traceparent: traceparentOf(span.spanContext()),
    set: (attributes) => void span.setAttributes(attributes),
    fail: (errorType) => void span.setAttribute('error.type', errorType).setStatus({ code: errorStatus }),
    run: (work) => activeSpan.run(span, work),
    end: () => span.end(),
  };
}

/** Starts the span of a received request. Its parent is the span that the sender's `traceparent` names. Undefined without tracing. */
export function startSpan(options: () => SpanOptions, traceparent?: string): StartedSpan | undefined {
  return startSpanOfSdk === undefined
    ? undefined
    : toStartedSpan(startSpanOfSdk(options(), { parent: spanContextOf(traceparent) }));
}

/** The value of `error.type`: the kind of a refusal, the code of an error of PostgreSQL or Node, or the name of the error's class. */
function errorTypeOf(error: unknown): string {
  const { kind, code, name } = (error ?? {}) as { kind?: unknown; code?: unknown; name?: unknown };
  return [kind, code, name].find((candidate) => typeof candidate === 'string') ?? typeof error;
}

/** Runs work in a span, which ends with the work, or with the promise that it returns. */
function runInSpan<T>(span: StartedSpan, work: (span: StartedSpan) => T): T {
  const failed = (error: unknown): void => {
    span.fail(errorTypeOf(error));
    span.end();
  };
  try {
    const result = span.run(() => work(span));
    if (result instanceof Promise) result.then(() => span.end(), failed);
    else span.end();
    return result;
  } catch (error) {
    failed(error);
    throw error;
  }
}

/** Runs work in a span whose parent `traceparent` names; without tracing, in no span. */
export function inSpan<T>(
  options: () => SpanOptions,
  traceparent: string | undefined,
  work: (span: StartedSpan | undefined) => T,
): T {
  const span = startSpan(options, traceparent);
  return span === undefined ? work(undefined) : runInSpan(span, work);
}

/** The active span, while it is sampled and has not ended: work that outlives a request is no part of its trace. */
function recordingSpan(): Span | undefined {
  if (startSpanOfSdk === undefined) return undefined;
  const span = activeSpan.getStore();
  return span?.isRecording() === true ? span : undefined;
}

/** Runs work in a child of the active span; without an active span, in no span. */
export function inChildSpan<T>(options: () => SpanOptions, work: (span: StartedSpan | undefined) => T): T {
  const parent = recordingSpan();
  if (parent === undefined || startSpanOfSdk === undefined) return work(undefined);
  return runInSpan(toStartedSpan(startSpanOfSdk(options(), { parent: parent.spanContext() })), work);
}

/** The maximum number of links of a span, the default of the OpenTelemetry specification. */
const maxLinks = 128;

/**
 * Runs work that other traces have caused, e.g. on a batch of their messages, in a span of a trace of its own that links to them. If none
 * of them is sampled, the work runs in no span.
 */
export function inLinkedSpan<T>(
  options: () => SpanOptions,
  traceparents: Iterable<string | null>,
  work: (span: StartedSpan | undefined) => T,
): T {
  if (startSpanOfSdk === undefined) return work(undefined);
  const links: SpanContext[] = [];
  for (const traceparent of new Set(traceparents)) {
    const context = spanContextOf(traceparent);
    if (context !== undefined && context.traceFlags === sampled) links.push(context);
    if (links.length === maxLinks) break;
  }
  if (links.length === 0) return withoutSpan(() => work(undefined));
  return runInSpan(toStartedSpan(startSpanOfSdk(options(), { links })), work);
}

/** Runs work outside the active span, such as a loop that a request happens to start. */
export function withoutSpan<T>(work: () => T): T {
  return startSpanOfSdk === undefined ? work() : activeSpan.run(undefined, work);
}

/** The W3C trace context of the active span; undefined without one. */
export function activeTraceparent(): string | undefined {
  const span = recordingSpan();
  return span === undefined ? undefined : traceparentOf(span.spanContext());
}

/** The ids of the active span, as log lines carry them; undefined without one. */
export function activeTraceIds(): { readonly trace_id: string; readonly span_id: string } | undefined {
  const context = recordingSpan()?.spanContext();
  return context === undefined ? undefined : { trace_id: context.traceId, span_id: context.spanId };
}
