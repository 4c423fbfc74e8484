import { hash } from 'node:crypto';
import { Refusal } from '@bunting/contracts';
import type { Logger } from '@bunting/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { httpStatusOf, rateLimiter } from '@bunting/http';
import { SignInDenied } from './oidc-sign-in.ts';
import { ProviderFault } from './provider-requests.ts';

const style = `body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.5rem;color-scheme:light dark}
h1{font-size:1.4rem}
a{margin-right:1.5rem}`;

const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? '');
}

/** Responds with a page that explains why a sign-in failed, with links to try again. It never redirects, so that no loop arises. */
export function sendSignInFailurePage(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply
    .code(status)
    .header('content-security-policy', contentSecurityPolicy)
    .header('content-type', 'text/html; charset=utf-8').send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign-in failed – Bunting</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>You are not signed in</h1>
<p>${escapeHtml(message)}</p>
<p><a href="login">Try again</a><a href="../../">Back to Bunting</a></p>
<p><small>Request ${escapeHtml(reply.request.id)}</small></p>
</main>
</body>
</html>
`);
}

/** Maximum number of failures that are logged in a minute. */
const maxLoggedFailures = 60;

/** Sends the page that names the cause of a failed sign-in, and logs what an administrator can change. */
export function signInFailureHandler(log: Pick<Logger, 'warn'>) {
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
}
