import { Refusal } from '@bunting/contracts';

/**
 * Why the origin gave nothing:
 * - `unreachable`: no connection, or no answer in time
 * - `failing`: it, or what is in front of it, answers with an error or asks to come again later
 * - `unusable`: it answers what is none of its answers: a page, half a body, too much
 * - `unsupported`: it does not have the operation
 * - `refused`: it refuses the token
 */
export type OriginFault = 'unreachable' | 'failing' | 'unusable' | 'unsupported' | 'refused';

/** A request to the origin that brought nothing. Its message continues "The origin …:". */
export class OriginError extends Refusal {
  readonly fault: OriginFault;
  /** how long the origin asks to wait, if it does */
  readonly retryAfterMs: number | undefined;

  /** that of the answer, if it is the reason */
  readonly status: number | undefined;

  constructor(
    fault: OriginFault,
    message: string,
    { status, retryAfterMs }: { readonly status?: number; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super('ServiceUnavailable', message);
    this.fault = fault;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
