import { Refusal } from '@bunting/contracts';
import type { Logger } from '@bunting/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { rateLimiter } from '../../admission/rate-limit.ts';
import { SignInDenied } from '../../domain/oidc/provider-sign-in.ts';
import { httpStatusOf } from '../../http/errors.ts';
import { ProviderFault } from '../../oidc/provider-fault.ts';
import { sendSignInFailurePage } from '../../oidc/sign-in-failure-page.ts';

/** Maximum number of failures that are logged in a minute. */
const maxLoggedFailures = 60;

/** Sends the page that names the cause of a failed sign-in, and logs what an administrator can change. */
export const signInFailureHandler = (log: Pick<Logger, 'warn'>) => {
  const logLimiter = rateLimiter(maxLoggedFailures);
  const warn = ({ message, cause }: Error): void => {
    if (logLimiter.consume('failures').waitSeconds > 0) return;
    const causeCode = (cause as { code?: unknown } | undefined)?.code;
    const code = typeof causeCode === 'string' ? ` (${causeCode})` : '';
    log.warn(`A sign-in with OpenID Connect failed${code}: ${message} docs/identity.md says what to check.`);
  };

  return (request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply => {
    const { exchange } = request;
    if (error instanceof SignInDenied) {
      exchange.outcome = 'ForbiddenError';
      warn(error);
      return sendSignInFailurePage(reply, 403, error.message);
    }
    if (error instanceof ProviderFault) {
      exchange.outcome = 'ServiceUnavailable';
      warn(error);
      return sendSignInFailurePage(reply, 502, error.message);
    }
    if (error instanceof Refusal) {
      exchange.outcome = error.kind;
      if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds));
      return sendSignInFailurePage(reply, httpStatusOf[error.kind], error.message);
    }
    exchange.outcome = 'InternalError';
    exchange.defect = error;
    return sendSignInFailurePage(
      reply,
      500,
      `Something went wrong in Bunting. An administrator finds the cause in the log under the request ${request.id}.`,
    );
  };
};
